insert into label_sets (label_ref, collection, revision, corpus_ref, judgments, stored)
select
    (select coalesce(max(label_ref), 0) + 1 from label_sets),
    $collection, $revision, corpus_ref, $judgments,
    strftime(now() at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ')
from corpora
where collection = $collection and revision = $corpus
returning label_ref
