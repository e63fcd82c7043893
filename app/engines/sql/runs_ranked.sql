-- The rows of some questions. A chunk counts at its first place: by rank or by score, then by line.
create or replace temp macro runs_ranked(spool, by_score, first_question, last_question) as table
select
    question, chunk, score, rank, line,
    row_number() over (
        partition by question, chunk
        order by case when by_score then -score end, rank, line
    ) as times
from read_parquet(spool)
where question between first_question and last_question
