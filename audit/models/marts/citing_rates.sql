-- One row per condition, task and method that shows three rollouts: how often regressions, improvements and unchanged
-- returns cite the worst rollout.
with
salience_criteria as (select * from salience_criteria),

counted as (
    select
        condition, env, variant, detector, about,
        count(*) as revisions,
        count(*) filter (where direction = 'regression') as regressions,
        count(*) filter (where direction = 'regression' and cites) as citing_regressions,
        count(*) filter (where direction = 'improvement') as improvements,
        count(*) filter (where direction = 'improvement' and cites) as citing_improvements,
        count(*) filter (where direction = 'no_change') as no_change,
        count(*) filter (where direction = 'no_change' and cites) as citing_no_change
    from salience_criteria
    group by all
),

citing_rates as (
    select
        condition, env, variant, detector,
        revisions,
        regressions,
        citing_regressions,
        100 * citing_regressions / nullif(regressions, 0) as citing_regressions_pct,
        improvements,
        citing_improvements,
        100 * citing_improvements / nullif(improvements, 0) as citing_improvements_pct,
        no_change,
        citing_no_change,
        100 * citing_no_change / nullif(no_change, 0) as citing_no_change_pct,
        about
    from counted
)

select * from citing_rates
