delete from corpus_chunks where corpus_ref not in (select corpus_ref from corpora)
