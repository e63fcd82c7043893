select key from vectors where cut and key in (select value from json_each(?))
