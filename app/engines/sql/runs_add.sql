insert into hits (execution_ref, question_ref, rank, chunk_ref, score)
select
    executions.execution_ref,
    questions.question_ref,
    row_number() over (
        partition by questions.question_ref
        order by
            case when $by_score then -ranked.score end,
            case when $by_score then run_chunks.document end,
            case when $by_score then run_chunks.version end,
            case when $by_score then run_chunks.chunk end,
            ranked.rank,
            ranked.line
    ) as place,
    chunks.chunk_ref,
    ranked.score
from runs_ranked($spool, $by_score, $first, $last) as ranked
join run_questions on run_questions.number = ranked.question
join questions
    on questions.collection = $collection and questions.question = run_questions.question
join run_chunks on run_chunks.number = ranked.chunk
join chunks
    on chunks.collection = $collection
    and chunks.document = run_chunks.document
    and chunks.version = run_chunks.version
    and chunks.chunk = run_chunks.chunk
join executions on executions.execution = $execution
where ranked.times = 1
order by questions.question_ref, place
