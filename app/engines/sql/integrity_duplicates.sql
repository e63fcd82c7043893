-- Rows of which there may be one only, counted beyond the first.
with counted as (
    select 'questions' as part, count(*) - count(distinct question_ref) as rows from questions
    union all
    select 'questions', count(*) - count(distinct (collection, question)) from questions
    union all
    select 'chunks', count(*) - count(distinct chunk_ref) from chunks
    union all
    select 'chunks', count(*) - count(distinct (collection, document, version, chunk)) from chunks
    union all
    select 'texts', count(*) - count(distinct text_hash) from texts
    union all
    select 'corpora', count(*) - count(distinct corpus_ref) from corpora
    union all
    select 'corpora', count(*) - count(distinct (collection, revision)) from corpora
    union all
    select 'corpus_chunks', count(*) - count(distinct (corpus_ref, chunk_ref)) from corpus_chunks
    union all
    select 'executions', count(*) - count(distinct execution_ref) from executions
    union all
    select 'executions', count(*) - count(distinct execution) from executions
    union all
    select
        'execution_questions', count(*) - count(distinct (execution_ref, question_ref))
    from execution_questions
    union all
    select 'hits', count(*) - count(distinct (execution_ref, question_ref, rank)) from hits
    union all
    select 'label_sets', count(*) - count(distinct label_ref) from label_sets
    union all
    select 'label_questions', count(*) - count(distinct (label_ref, question_ref))
    from label_questions
    union all
    select 'label_pairs', count(*) - count(distinct (label_ref, question_ref, chunk_ref))
    from label_pairs
    union all
    select 'scorings', count(*) - count(distinct scoring_ref) from scorings
    union all
    select 'scorings', count(*) - count(distinct hash) from scorings
    union all
    select 'scorings_done', count(*) - count(distinct number) from scorings_done
    union all
    select
        'scores',
        count(*) - count(distinct (execution_ref, label_ref, scoring_ref, question_ref, k))
    from scores
)
select part, max(rows) as rows from counted where rows > 0 group by part order by part
