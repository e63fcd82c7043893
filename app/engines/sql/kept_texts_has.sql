select text_hash from texts where text_hash in (select value from json_each(?))
