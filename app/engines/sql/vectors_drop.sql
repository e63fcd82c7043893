delete from vectors where key not in (select value from json_each(?))
