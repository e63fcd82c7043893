-- Corpus revisions that are said to have chunks and have none.
select collection, revision
from corpora
anti join corpus_chunks using (corpus_ref)
where eligible > 0
order by corpus_ref
