select
    questions.question, k, outcome, reason, relevant, provisional, precision, recall, rr, ndcg,
    hit, judged, bounds
from scores
join executions using (execution_ref)
join label_sets using (label_ref)
join scorings using (scoring_ref)
join questions using (question_ref)
where
    executions.execution = $execution
    and label_sets.collection = $collection
    and label_sets.revision = $revision
    and scorings.hash = $hash
order by question_ref, k
