delete from label_questions where label_ref not in (select label_ref from label_sets)
