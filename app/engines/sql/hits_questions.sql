select distinct question_ref
from hits
join executions using (execution_ref)
where execution = $execution
order by question_ref
