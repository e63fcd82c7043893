-- What unsupported questions got back.
select
    questions.question,
    count(hits.rank) filter ($threshold is null or hits.score >= $threshold) as hits,
    max(hits.score) as top_score
from execution_questions
join executions using (execution_ref)
join questions using (question_ref)
join label_questions
    on label_questions.label_ref = $label
    and label_questions.question_ref = execution_questions.question_ref
left join hits
    on hits.execution_ref = execution_questions.execution_ref
    and hits.question_ref = execution_questions.question_ref
where
    executions.execution = $execution
    and label_questions.kind = 'unsupported'
    and execution_questions.failure is null
group by questions.question
