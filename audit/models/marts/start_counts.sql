-- One row per run and part of the range: how many revisions start there, and how many of them are regressions.
with
start_bins as (select * from start_bins),

start_counts as (
    select
        condition, env, variant, run, start,
        count(*) as revisions,
        count_if(direction = 'regression') as regressions
    from start_bins
    group by all
)

select * from start_counts
