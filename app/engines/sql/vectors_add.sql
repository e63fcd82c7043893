insert or replace into vectors (key, vector, cut) values (?, ?, ?)
