-- The pairs that tell two executions apart within K: returned by one of them alone, or at another
-- rank. Which of the two, and at which ranks, is not selected, and the order is that of the keys.
with first_hits as (
    select question_ref, chunk_ref, rank
    from hits
    join executions using (execution_ref)
    where collection = $collection and execution = $first and rank <= $k
),
second_hits as (
    select question_ref, chunk_ref, rank
    from hits
    join executions using (execution_ref)
    where collection = $collection and execution = $second and rank <= $k
)
select question, document, version, chunk
from first_hits
full outer join second_hits using (question_ref, chunk_ref)
join questions using (question_ref)
join chunks using (chunk_ref)
where first_hits.rank is distinct from second_hits.rank
order by question, document, version, chunk
