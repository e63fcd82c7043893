insert into corpus_chunks (corpus_ref, chunk_ref, text_hash, title, section)
select corpora.corpus_ref, chunks.chunk_ref, incoming.text_hash, incoming.title, incoming.section
from incoming
join chunks
    on chunks.collection = $collection
    and chunks.document = incoming.document
    and chunks.version = incoming.version
    and chunks.chunk = incoming.chunk
join corpora on corpora.collection = $collection and corpora.revision = $revision
