select
    execution as id, executions.collection, configuration, fingerprint, status,
    corpora.revision as corpus_revision, corpora.points, corpora.eligible,
    started, finished, provenance
from executions
join corpora using (corpus_ref)
where starts_with(execution, $prefix) or configuration = $prefix
order by execution_ref desc
