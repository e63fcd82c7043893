select corpus_ref from corpora where collection = $collection and revision = $revision
