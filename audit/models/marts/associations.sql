-- One row is a condition, task and method that shows three rollouts, by whether citing goes with a regression.
-- key: condition, env, variant
-- cached
-- The ratios and their intervals are those of `audit/measures/association.py`, the gap and the other intervals those of
-- `audit/measures/cluster_robust.py`.
select
    condition, env, variant,
    unnest(
        associate_citing(list(citing_by_run order by run))::struct(
            runs bigint,  --: with such a revision: the clusters
            risk_ratio double,  --: share of regressions among citing revisions, divided by that among the others
            risk_ratio_low double,  --: end of the 95% interval, by cluster bootstrap over runs
            risk_ratio_high double,
            odds_ratio double,  --: likewise with odds
            odds_ratio_low double,  --: end of its 95% interval
            odds_ratio_high double,
            gap double,  --: share of regressions among citing revisions less that among the others, in percentage
            --: points
            gap_low double,  --: end of its 95% interval, with errors by run (CR2)
            gap_high double,
            strict_low double,  --: end of the 95% interval of strict_pct, with errors by run (CR2)
            strict_high double,
            permissive_low double,  --: likewise of permissive_pct
            permissive_high double,
            citing_regressions_pct_low double,  --: end of the 95% interval of citing_regressions_pct, with errors by
            --: run (CR2)
            citing_regressions_pct_high double,
            citing_improvements_pct_low double,  --: likewise of citing_improvements_pct
            citing_improvements_pct_high double,
            citing_no_change_pct_low double,  --: likewise of citing_no_change_pct
            citing_no_change_pct_high double,
            rough varchar[]  --: columns whose interval too few runs inform to rely on it: fewer than four degrees of
            --: freedom
        )[],
        max_depth := 2
    )
from citing_by_run
group by condition, env, variant
order by condition, env, variant
