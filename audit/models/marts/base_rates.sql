-- One row per condition, task and method that shows three rollouts: who cites the worst rollout, and whether citing it goes
-- with a regression.
with
citing_rates as (select * from citing_rates),
associations as (select * from associations),
association_tests as (select * from association_tests),

totalled as (
    select *, citing_regressions + citing_improvements + citing_no_change as citing
    from citing_rates
),

base_rates as (
    select
        condition, env, variant, detector,
        runs,
        revisions,
        regressions,
        citing_regressions,
        citing_regressions_pct,
        improvements,
        citing_improvements,
        citing_improvements_pct,
        no_change,
        citing_no_change,
        citing_no_change_pct,
        -- The converse: of the revisions that cite, and of those that do not, how many are regressions?
        100 * citing_regressions / nullif(citing, 0) as regressions_citing_pct,
        100 * (regressions - citing_regressions) / nullif(revisions - citing, 0) as regressions_not_citing_pct,
        risk_ratio, risk_ratio_low, risk_ratio_high,
        odds_ratio, odds_ratio_low, odds_ratio_high,
        robust_odds_ratio_low, robust_odds_ratio_high, robust_p, holm_p, family,
        about,
        citing_regressions_pct_low, citing_regressions_pct_high,
        citing_improvements_pct_low, citing_improvements_pct_high,
        citing_no_change_pct_low, citing_no_change_pct_high,
        [name for name in rough if name not in ('strict', 'permissive', 'gap')] as rough
    from totalled
    join associations using (condition, env, variant)
    join association_tests using (condition, env, variant)
)

select * from base_rates order by condition, env, variant
