-- What the newest execution of each configuration returned, for those who will judge it: the chunk,
-- and whether it is within K anywhere. No rank, score or configuration is selected, and the order is
-- that of the keys: nothing here can sway a judgment.
with newest as (
    select execution_ref
    from executions
    where
        collection = $collection
        and (status = 'imported' or list_contains($configurations, configuration))
    qualify row_number() over (
        partition by configuration order by finished desc, execution_ref desc
    ) = 1
)
select question, document, version, chunk, bool_or(rank <= $k) as within
from hits
join newest using (execution_ref)
join questions using (question_ref)
join chunks using (chunk_ref)
where rank <= $depth
group by question, document, version, chunk
order by question, document, version, chunk
