with newest as (
    select execution_ref, max(label_ref) as label_ref
    from scores
    join executions using (execution_ref)
    where $collection is null or executions.collection = $collection
    group by execution_ref
),
one as (
    select scores.execution_ref, scores.label_ref, max(scoring_ref) as scoring_ref
    from scores
    join newest using (execution_ref, label_ref)
    group by scores.execution_ref, scores.label_ref
)
select
    executions.execution,
    label_sets.revision as label_revision,
    k,
    count(*) filter (where outcome = 'scored') as scored,
    -- A failed or provisional question leaves no mean: the average over the others would hide it.
    case
        when bool_or(outcome = 'failed') or bool_or(outcome = 'scored' and ndcg is null) then null
        else avg(ndcg)
    end as ndcg,
    case
        when bool_or(outcome = 'failed') or bool_or(outcome = 'scored' and recall is null) then null
        else avg(recall)
    end as recall,
    bool_or(provisional) as provisional
from scores
join one using (execution_ref, label_ref, scoring_ref)
join executions using (execution_ref)
join label_sets using (label_ref)
group by executions.execution, label_sets.revision, k
order by executions.execution, k
