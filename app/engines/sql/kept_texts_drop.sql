delete from texts where text_hash not in (select value from json_each(?))
