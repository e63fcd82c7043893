with ranked as (
    select * from runs_ranked($spool, $by_score, $first, $last)
),
placed as (
    select
        question, score, rank,
        lag(score) over (partition by question order by rank, line) as score_before,
        lag(rank) over (partition by question order by rank, line) as rank_before
    from ranked
    where times = 1
),
asked as (
    select
        question,
        count(*) as hits,
        bool_or(score > score_before) as disagrees,
        count(distinct score) < count(*) as tied,
        bool_or(rank = rank_before) as same_rank
    from placed
    group by question
)
select
    coalesce(sum(hits), 0) as hits,
    (select count(*) filter (times > 1) from ranked) as duplicates,
    coalesce(max(hits), 0) as depth,
    count(*) filter (disagrees and not $by_score) as disagreeing,
    count(*) filter (tied) as tied,
    count(*) filter (same_rank and not $by_score) as same_rank
from asked
