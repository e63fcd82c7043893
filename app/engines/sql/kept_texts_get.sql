select text_hash, text from texts where text_hash in (select value from json_each(?))
