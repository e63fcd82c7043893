delete from texts where text_hash not in (select text_hash from corpus_chunks)
