select distinct texts.text_hash, texts.text
from corpus_chunks
join executions using (corpus_ref)
join texts using (text_hash)
where execution = $execution
order by texts.text_hash
