delete from label_sets
where
    collection = $collection
    and revision <> $revision
    and not exists (
        select 1 from scorings_done where scorings_done.label_ref = label_sets.label_ref
    )
