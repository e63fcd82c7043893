-- Label sets without scores, but for a collection's newest one while it has executions: somebody
-- may be scoring under it.
delete from label_sets
where
    label_ref not in (select label_ref from scorings_done)
    and label_ref not in (select label_ref from scores)
    and label_ref not in (
        select max(newest.label_ref)
        from label_sets as newest
        where newest.collection in (select collection from executions)
        group by newest.collection
    )
