select document, version, chunk, text_hash, title, section
from corpus_chunks
join executions using (corpus_ref)
join chunks using (chunk_ref)
where execution = $execution
order by document, version, chunk
