select
    execution_questions.question_ref, questions.question, label_questions.category,
    label_questions.split, label_questions.kind, execution_questions.failure,
    execution_questions.text as asked, label_questions.text as text
from execution_questions
join executions using (execution_ref)
join questions using (question_ref)
join label_questions
    on label_questions.label_ref = $label
    and label_questions.question_ref = execution_questions.question_ref
where executions.execution = $execution
order by execution_questions.question_ref
