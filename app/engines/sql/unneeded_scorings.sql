delete from scorings
where
    scoring_ref not in (select scoring_ref from scorings_done)
    and scoring_ref not in (select scoring_ref from scores)
