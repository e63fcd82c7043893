insert into schema_version values ($version)
