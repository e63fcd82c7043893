select key from vectors where key in (select value from json_each(?))
