select question, rank, document, version, chunk, score
from hits
join executions using (execution_ref)
join questions using (question_ref)
join chunks using (chunk_ref)
where execution = $execution and question_ref between $first and $last
order by question_ref, rank
