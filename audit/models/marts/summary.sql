-- One row per condition, task and method: how its revisions turned out.
with
runs as (
    select condition, env, variant, count(*) as runs
    from runs
    group by all
),
counted as (
    select
        condition, env, variant,
        count(*) as revisions,
        -- In order, since a sum of binary fractions depends on it.
        avg(delta order by run, iteration) as mean_delta,
        avg(edit_distance) as mean_edit_distance,
        count(*) filter (where accepted) as accepted,
        count(*) filter (where direction = 'regression') as regressions,
        count(*) filter (where direction = 'improvement') as improvements,
        count(*) filter (where direction = 'no_change') as no_change
    from changes
    group by all
),

summary as (
    select
        condition, env, variant,
        runs,
        coalesce(revisions, 0) as revisions,
        mean_delta,
        mean_edit_distance,
        coalesce(accepted, 0) as accepted,
        100 * accepted / nullif(revisions, 0) as accepted_pct,
        coalesce(regressions, 0) as regressions,
        100 * regressions / nullif(revisions, 0) as regressions_pct,
        coalesce(improvements, 0) as improvements,
        coalesce(no_change, 0) as no_change
    from runs
    left join counted using (condition, env, variant)
)

select * from summary order by condition, env, variant
