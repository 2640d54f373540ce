-- One row is a condition, task and method that shows three rollouts.
-- key: condition, env, variant
-- cached
-- Beside the two criteria stand the base rates that are needed to interpret them.
with
counted as (
    select
        condition, env, variant,
        if(count(strict) = 0, null, count(*) filter (where strict)) as strict,
        if(count(permissive) = 0, null, count(*) filter (where permissive)) as permissive,
        count(*) filter (where worst_below_median) as worst_below_median,
        count(*) filter (where worst_below_best) as worst_below_best
    from salience_criteria
    group by all
)

select
    condition, env, variant, detector,
    revisions,
    regressions,  --: number whose direction is regression
    100 * regressions / nullif(revisions, 0) as regressions_pct,  --: of revisions
    strict,  --: number of strict salience-problem regressions; null where another item than the worst is asked about
    100 * strict / nullif(regressions, 0) as strict_pct,  --: of regressions
    permissive,  --: number of permissive ones; likewise
    100 * permissive / nullif(regressions, 0) as permissive_pct,  --: of regressions
    worst_below_median,  --: regressions with worst < median, whatever the text says
    worst_below_best,  --: regressions with worst < best, whatever the text says
    citing_regressions_pct,
    citing_improvements_pct,
    citing_no_change_pct,
    risk_ratio, risk_ratio_low, risk_ratio_high,
    odds_ratio, odds_ratio_low, odds_ratio_high,
    about,
    -- Scores of examples are often equal: of the regressions in which the worst one differs from the others.
    100 * strict / nullif(worst_below_median, 0) as strict_untied_pct,  --: strict of the regressions with worst below
    --: median, whose number is worst_below_median
    100 * permissive / nullif(worst_below_best, 0) as permissive_untied_pct,
    --: permissive of the regressions with worst below best, whose number is worst_below_best
    runs,
    strict_low, strict_high,
    permissive_low, permissive_high,
    gap, gap_low, gap_high,
    [name for name in rough if name in ('strict', 'permissive', 'gap', 'risk_ratio', 'odds_ratio')] as rough
from citing_rates
join counted using (condition, env, variant)
join associations using (condition, env, variant)
order by condition, env, variant
