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
),
counted as (
    select
        executions.execution,
        label_sets.revision as label_revision,
        k,
        count(*) filter (where outcome = 'scored') as scored,
        bool_or(outcome = 'failed') as failed,
        bool_or(provisional) as provisional,
        avg(precision) as precision, count(precision) as precisions,
        avg(recall) as recall, count(recall) as recalls,
        avg(rr) as mrr, count(rr) as rrs,
        avg(ndcg) as ndcg, count(ndcg) as ndcgs,
        avg(hit) as hit, count(hit) as hits
    from scores
    join one using (execution_ref, label_ref, scoring_ref)
    join executions using (execution_ref)
    join label_sets using (label_ref)
    group by executions.execution, label_sets.revision, k
)
-- A failed or provisional question leaves no mean: the average over the others would hide it.
select
    execution, label_revision, k, scored, provisional,
    case when not failed and precisions = scored then precision end as precision,
    case when not failed and recalls = scored then recall end as recall,
    case when not failed and rrs = scored then mrr end as mrr,
    case when not failed and ndcgs = scored then ndcg end as ndcg,
    case when not failed and hits = scored then hit end as hit
from counted
order by execution, k
