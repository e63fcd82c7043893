select question, rank, document, version, chunk, score
from hits
join executions using (execution_ref)
join questions using (question_ref)
join chunks using (chunk_ref)
where execution = $execution and ($depth is null or rank <= $depth)
order by question_ref, rank
