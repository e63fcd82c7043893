select question, text, failure, embed_ms, search_ms
from execution_questions
join executions using (execution_ref)
join questions using (question_ref)
where execution = $execution
order by question_ref
