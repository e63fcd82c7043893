insert into executions (
    execution_ref, execution, collection, configuration, fingerprint, status, corpus_ref,
    started, finished, provenance
)
select
    (select coalesce(max(execution_ref), 0) + 1 from executions),
    $execution, $collection, $configuration, $fingerprint, $status, corpus_ref,
    $started, $finished, $provenance
from corpora
where collection = $collection and revision = $revision
