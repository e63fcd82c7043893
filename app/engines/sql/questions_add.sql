insert into questions (question_ref, collection, question)
select
    (select coalesce(max(question_ref), 0) from questions) + row_number() over (order by question),
    $collection,
    question
from (select distinct question from incoming) as new
where not exists (
    select 1 from questions as known
    where known.collection = $collection and known.question = new.question
)
