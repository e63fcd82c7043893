-- Hits of an imported run that are no chunk of the corpus and that nobody labeled.
select hits.question_ref, count(*) as hits
from hits
join executions using (execution_ref)
anti join corpus_chunks
    on corpus_chunks.corpus_ref = executions.corpus_ref
    and corpus_chunks.chunk_ref = hits.chunk_ref
anti join (select * from label_pairs where label_ref = $label) as labels
    on labels.question_ref = hits.question_ref
    and labels.chunk_ref = hits.chunk_ref
where
    executions.execution = $execution
    and ($threshold is null or hits.score >= $threshold)
group by hits.question_ref
