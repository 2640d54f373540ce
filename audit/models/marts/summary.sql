-- One row is a condition, task and method.
-- key: condition, env, variant
-- cached
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
)

select
    condition, env, variant,
    runs,  --: with a finished iteration
    coalesce(revisions, 0) as revisions,  --: their number
    mean_delta,  --: null without revisions
    mean_edit_distance,  --: null without revisions
    coalesce(accepted, 0) as accepted,  --: number of accepted revisions
    100 * accepted / nullif(revisions, 0) as accepted_pct,  --: of revisions
    coalesce(regressions, 0) as regressions,  --: number whose direction is regression
    100 * regressions / nullif(revisions, 0) as regressions_pct,  --: of revisions
    coalesce(improvements, 0) as improvements,  --: number whose direction is improvement
    coalesce(no_change, 0) as no_change  --: number with delta = 0
from runs
left join counted using (condition, env, variant)
order by condition, env, variant
