select
    execution as id, executions.collection, configuration, fingerprint, status,
    corpora.revision as corpus_revision, corpora.points, corpora.eligible,
    started, finished, provenance
from executions
join corpora using (corpus_ref)
where
    ($collection is null or executions.collection = $collection)
    and ($fingerprint is null or (fingerprint = $fingerprint and status = 'complete'))
    and ($name is null or starts_with(execution, $name) or configuration = $name)
order by finished desc, execution_ref desc
