insert into chunks (chunk_ref, collection, document, version, chunk)
select
    (select coalesce(max(chunk_ref), 0) from chunks)
    + row_number() over (order by document, version, chunk),
    $collection,
    document,
    version,
    chunk
from (select distinct document, version, chunk from incoming) as new
where not exists (
    select 1 from chunks as known
    where
        known.collection = $collection
        and known.document = new.document
        and known.version = new.version
        and known.chunk = new.chunk
)
