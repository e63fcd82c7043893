create table if not exists texts (
    text_hash text primary key,
    text text not null
) without rowid
