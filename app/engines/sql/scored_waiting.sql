-- Questions with evidence that is disputed or stale.
select distinct question_ref
from label_pairs
where label_ref = $label and state in ('disputed', 'stale') and high >= $threshold
