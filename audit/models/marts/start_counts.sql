-- One row is a run and a part of the range that revisions of it start from.
-- key: condition, env, variant, run, start
-- internal
select
    condition, env, variant, run,
    coalesce(method.second = 'repeat', false) as is_control,  --: whether the method sends its prompt twice
    start,
    count(*) as revisions,
    count(*) filter (where direction = 'regression') as regressions,
    count(*) filter (where cites) as citing,  --: revisions whose answer refers to what is asked about
    count(*) filter (where cites and direction = 'regression') as citing_regressions  --: of those
from start_bins
left join "references" using (condition, env, variant, run, iteration)
join run_records using (condition, env, variant, run)
group by all
