select 1 as found
from scores
join executions using (execution_ref)
join scorings using (scoring_ref)
where executions.execution = $execution and scores.label_ref = $label and scorings.hash = $hash
limit 1
