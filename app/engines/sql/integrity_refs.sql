-- Rows that point to a row which is not there.
with counted as (
    select 'execution_questions' as part, 'executions' as target, count(*) as rows
    from execution_questions anti join executions using (execution_ref)
    union all
    select 'execution_questions', 'questions', count(*)
    from execution_questions anti join questions using (question_ref)
    union all
    select 'hits', 'executions', count(*)
    from hits anti join executions using (execution_ref)
    union all
    select 'hits', 'questions', count(*)
    from hits anti join questions using (question_ref)
    union all
    select 'hits', 'chunks', count(*)
    from hits anti join chunks using (chunk_ref)
    union all
    select 'executions', 'corpora', count(*)
    from executions anti join corpora using (corpus_ref)
    union all
    select 'corpus_chunks', 'corpora', count(*)
    from corpus_chunks anti join corpora using (corpus_ref)
    union all
    select 'corpus_chunks', 'chunks', count(*)
    from corpus_chunks anti join chunks using (chunk_ref)
    union all
    select 'label_sets', 'corpora', count(*)
    from label_sets anti join corpora using (corpus_ref)
    union all
    select 'label_questions', 'label_sets', count(*)
    from label_questions anti join label_sets using (label_ref)
    union all
    select 'label_questions', 'questions', count(*)
    from label_questions anti join questions using (question_ref)
    union all
    select 'label_pairs', 'label_sets', count(*)
    from label_pairs anti join label_sets using (label_ref)
    union all
    select 'label_pairs', 'questions', count(*)
    from label_pairs anti join questions using (question_ref)
    union all
    select 'label_pairs', 'chunks', count(*)
    from label_pairs anti join chunks using (chunk_ref)
    union all
    select 'scorings_done', 'executions', count(*)
    from scorings_done anti join executions using (execution_ref)
    union all
    select 'scorings_done', 'label_sets', count(*)
    from scorings_done anti join label_sets using (label_ref)
    union all
    select 'scorings_done', 'scorings', count(*)
    from scorings_done anti join scorings using (scoring_ref)
    union all
    select 'scores', 'executions', count(*)
    from scores anti join executions using (execution_ref)
    union all
    select 'scores', 'label_sets', count(*)
    from scores anti join label_sets using (label_ref)
    union all
    select 'scores', 'scorings', count(*)
    from scores anti join scorings using (scoring_ref)
    union all
    select 'scores', 'questions', count(*)
    from scores anti join questions using (question_ref)
)
select part, target, rows from counted where rows > 0
