insert into execution_questions (
    execution_ref, question_ref, text, failure, embed_ms, search_ms
)
select
    executions.execution_ref, questions.question_ref, incoming.text, incoming.failure,
    incoming.embed_ms, incoming.search_ms
from incoming
join questions on questions.collection = $collection and questions.question = incoming.question
join executions on executions.execution = $execution
