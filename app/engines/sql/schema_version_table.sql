create table if not exists schema_version (version integer not null)
