select 1 as found
from scores
join executions using (execution_ref)
join label_sets using (label_ref)
join scorings using (scoring_ref)
where
    executions.execution = $execution
    and label_sets.collection = $collection
    and label_sets.revision = $revision
    and scorings.hash = $hash
limit 1
