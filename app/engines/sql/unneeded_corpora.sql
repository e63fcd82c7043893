delete from corpora
where
    corpus_ref not in (select corpus_ref from executions)
    and corpus_ref not in (select corpus_ref from label_sets)
