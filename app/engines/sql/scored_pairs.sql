-- The listed pairs of every question: how many with which possible grades, and how many of them
-- are chunks of the corpus.
select
    question_ref, low, high, coalesce(grade, -1) as grade,
    count(*) as pairs, count(*) filter (not departed) as present
from label_pairs
where label_ref = $label
group by all
