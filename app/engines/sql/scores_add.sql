insert into scores (
    execution_ref, label_ref, scoring_ref, question_ref, k, outcome, reason, relevant,
    provisional, precision, recall, rr, ndcg, hit, judged, bounds
)
select
    executions.execution_ref, $label, scorings.scoring_ref, questions.question_ref,
    incoming.k, incoming.outcome, incoming.reason, incoming.relevant, incoming.provisional,
    incoming.precision, incoming.recall, incoming.rr, incoming.ndcg, incoming.hit,
    incoming.judged, incoming.bounds
from incoming
join questions on questions.collection = $collection and questions.question = incoming.question
join executions on executions.execution = $execution
join scorings on scorings.hash = $hash
