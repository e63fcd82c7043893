insert into scorings_done (number, execution_ref, label_ref, scoring_ref)
select
    (select coalesce(max(number), 0) + 1 from scorings_done),
    executions.execution_ref, label_sets.label_ref, scorings.scoring_ref
from executions
join label_sets on label_sets.collection = $collection and label_sets.revision = $revision
join scorings on scorings.hash = $hash
where executions.execution = $execution
