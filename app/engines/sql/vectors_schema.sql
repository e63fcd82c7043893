create table if not exists vectors (
    key text primary key,
    vector blob not null,
    cut integer not null
) without rowid
