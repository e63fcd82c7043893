insert into label_pairs (
    label_ref, question_ref, chunk_ref, state, grade, low, high, departed
)
select
    $label, questions.question_ref, chunks.chunk_ref, incoming.state,
    nullif(incoming.grade, -1), incoming.low, incoming.high, incoming.departed
from incoming
join questions on questions.collection = $collection and questions.question = incoming.question
join chunks
    on chunks.collection = $collection
    and chunks.document = incoming.document
    and chunks.version = incoming.version
    and chunks.chunk = incoming.chunk
order by questions.question_ref
