-- One row per condition, task and method that shows three rollouts: how many regressions meet the two criteria.
with
salience as (select * from salience),

counted as (
    select
        condition, env, variant, detector,
        count(*) as revisions,
        count_if(direction = 'regression') as regressions,
        count_if(strict) as strict,
        count_if(permissive) as permissive,
        count_if(worst_below_median) as worst_below_median,
        count_if(worst_below_best) as worst_below_best
    from salience
    group by all
),

salience_summary as (
    select
        condition, env, variant, detector,
        revisions,
        regressions,
        100 * regressions / nullif(revisions, 0) as regressions_pct,
        strict,
        100 * strict / nullif(regressions, 0) as strict_pct,
        permissive,
        100 * permissive / nullif(regressions, 0) as permissive_pct,
        worst_below_median,
        worst_below_best
    from counted
)

select * from salience_summary order by condition, env, variant
