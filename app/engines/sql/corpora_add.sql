insert into corpora (corpus_ref, collection, revision, points, eligible)
select coalesce(max(corpus_ref), 0) + 1, $collection, $revision, $points, $eligible from corpora
