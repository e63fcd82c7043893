-- Executions without questions, and those with hits for questions they do not have.
with asked as (
    select execution_ref, count(*) as questions from execution_questions group by execution_ref
),
beyond as (
    select hits.execution_ref, count(*) as hits
    from hits
    anti join execution_questions
        on execution_questions.execution_ref = hits.execution_ref
        and execution_questions.question_ref = hits.question_ref
    group by hits.execution_ref
)
select
    execution as id,
    coalesce(asked.questions, 0) as questions,
    coalesce(beyond.hits, 0) as hits
from executions
left join asked using (execution_ref)
left join beyond using (execution_ref)
where asked.questions is null or beyond.hits is not null
order by executions.execution_ref
