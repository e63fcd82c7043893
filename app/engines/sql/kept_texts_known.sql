select text_hash from texts
