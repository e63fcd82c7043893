select chunk_ref, text_hash
from corpus_chunks
join executions using (corpus_ref)
where executions.execution = $execution
