insert into label_questions (label_ref, question_ref, category, split, tags, text, kind)
select
    $label, questions.question_ref, incoming.category, incoming.split,
    incoming.tags, incoming.text, incoming.kind
from incoming
join questions on questions.collection = $collection and questions.question = incoming.question
