insert into scorings_done (number, execution_ref, label_ref, scoring_ref)
select
    (select coalesce(max(number), 0) + 1 from scorings_done),
    executions.execution_ref, $label, scorings.scoring_ref
from executions
join scorings on scorings.hash = $hash
where executions.execution = $execution
