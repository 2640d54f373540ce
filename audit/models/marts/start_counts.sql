-- One row per run and part of the range: how many revisions start there, and how many of them are regressions.
with
start_bins as (select * from start_bins),
methods as (select condition, env, variant, run, method.second = 'repeat' as sends_twice from run_records),

start_counts as (
    select
        condition, env, variant, run,
        coalesce(sends_twice, false) as is_control,
        start,
        count(*) as revisions,
        count_if(direction = 'regression') as regressions
    from start_bins
    join methods using (condition, env, variant, run)
    group by all
)

select * from start_counts
