-- The hits down to a rank, each with what its label says. A hit that is not listed has `low` -1.
select
    hits.question_ref, hits.rank, hits.chunk_ref, hits.score,
    coalesce(labels.grade, -1)::tinyint as grade,
    coalesce(labels.low, -1)::tinyint as low,
    coalesce(labels.high, -1)::tinyint as high,
    coalesce(labels.state in ('judged', 'implicit', 'retired'), false) as settled
from hits
left join (select * from label_pairs where label_ref = $label) as labels
    on labels.question_ref = hits.question_ref and labels.chunk_ref = hits.chunk_ref
where
    hits.execution_ref = (select execution_ref from executions where execution = $execution)
    and hits.rank <= $depth
    and ($threshold is null or hits.score >= $threshold)
