-- Executions whose id begins with a text, and what belongs to each.
select
    execution as id, collection, configuration, status, started,
    (
        select count(*) from execution_questions
        where execution_questions.execution_ref = executions.execution_ref
    ) as questions,
    (select count(*) from hits where hits.execution_ref = executions.execution_ref) as hits,
    (select count(*) from scores where scores.execution_ref = executions.execution_ref) as scores
from executions
where starts_with(execution, $beginning)
order by executions.execution_ref
