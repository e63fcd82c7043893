insert or ignore into texts (text_hash, text) values (?, ?)
