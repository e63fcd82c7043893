-- Label sets without scores, but for a collection's newest one while there are executions on its
-- corpus: somebody may be scoring them under it.
delete from label_sets
where
    label_ref not in (select label_ref from scorings_done)
    and label_ref not in (select label_ref from scores)
    and not (
        corpus_ref in (select corpus_ref from executions)
        and label_ref in (select max(label_ref) from label_sets group by collection)
    )
