insert into scorings (scoring_ref, hash, settings)
select (select coalesce(max(scoring_ref), 0) + 1 from scorings), $hash, $settings
where not exists (select 1 from scorings where hash = $hash)
