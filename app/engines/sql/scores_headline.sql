-- For every execution and K the newest scoring that has this K.
with newest as (
    select
        scores.execution_ref, scores.k,
        arg_max((scores.label_ref, scores.scoring_ref), number) as one
    from scores
    join scorings_done using (execution_ref, label_ref, scoring_ref)
    group by scores.execution_ref, scores.k
),
counted as (
    select
        executions.execution,
        label_sets.revision as label_revision,
        scores.k,
        count(*) filter (where outcome = 'scored') as scored,
        bool_or(outcome = 'failed') as failed,
        bool_or(provisional) as provisional,
        avg(precision) as precision, count(precision) as precisions,
        avg(recall) as recall, count(recall) as recalls,
        avg(rr) as mrr, count(rr) as rrs,
        avg(ndcg) as ndcg, count(ndcg) as ndcgs,
        avg(hit) as hit, count(hit) as hits
    from scores
    join newest
        on newest.execution_ref = scores.execution_ref
        and newest.k = scores.k
        and newest.one = (scores.label_ref, scores.scoring_ref)
    join executions on executions.execution_ref = scores.execution_ref
    join label_sets on label_sets.label_ref = scores.label_ref
    where $collection is null or executions.collection = $collection
    group by executions.execution, label_sets.revision, scores.k
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
