-- One row is a condition, task and method that shows three rollouts.
-- key: condition, env, variant
-- cached
with
totalled as (
    select *, citing_regressions + citing_improvements + citing_no_change as citing
    from citing_rates
)

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
    100 * citing_regressions / nullif(citing, 0) as regressions_citing_pct,  --: regressions, of the revisions that cite
    100 * (regressions - citing_regressions) / nullif(revisions - citing, 0) as regressions_not_citing_pct,
    --: regressions, of those that do not
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
order by condition, env, variant
