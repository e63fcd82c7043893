delete from chunks
where
    chunk_ref not in (select chunk_ref from corpus_chunks)
    and chunk_ref not in (select chunk_ref from hits)
    and chunk_ref not in (select chunk_ref from label_pairs)
