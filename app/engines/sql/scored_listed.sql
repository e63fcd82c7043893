-- The chunks of the corpus among the listed pairs whose text no completeness covers.
select label_pairs.question_ref, count(*) as pairs
from label_pairs
join incoming using (chunk_ref)
where label_pairs.label_ref = $label
group by label_pairs.question_ref
