-- One row per run and part of the range: how many revisions start there, and how many of them are regressions.
with
start_bins as (select * from start_bins),
"references" as (select condition, env, variant, run, iteration, cites from "references"),
methods as (select condition, env, variant, run, method.second = 'repeat' as sends_twice from run_records),

start_counts as (
    select
        condition, env, variant, run,
        coalesce(sends_twice, false) as is_control,
        start,
        count(*) as revisions,
        count(*) filter (where direction = 'regression') as regressions,
        count(*) filter (where cites) as citing,
        count(*) filter (where cites and direction = 'regression') as citing_regressions
    from start_bins
    left join "references" using (condition, env, variant, run, iteration)
    join methods using (condition, env, variant, run)
    group by all
)

select * from start_counts
