insert into hits (execution_ref, question_ref, rank, chunk_ref, score)
select
    executions.execution_ref, questions.question_ref, incoming.rank, chunks.chunk_ref,
    incoming.score
from incoming
join questions on questions.collection = $collection and questions.question = incoming.question
join chunks
    on chunks.collection = $collection
    and chunks.document = incoming.document
    and chunks.version = incoming.version
    and chunks.chunk = incoming.chunk
join executions on executions.execution = $execution
order by questions.question_ref, incoming.rank
