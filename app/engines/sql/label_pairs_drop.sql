delete from label_pairs where label_ref not in (select label_ref from label_sets)
