-- One row per condition, task and method that shows three rollouts: how many regressions meet the two criteria, and the
-- base rates that are needed to interpret the number.
with
salience_criteria as (select * from salience_criteria),
citing_rates as (select * from citing_rates),
associations as (select * from associations),

counted as (
    select
        condition, env, variant,
        if(count(strict) = 0, null, count(*) filter (where strict)) as strict,
        if(count(permissive) = 0, null, count(*) filter (where permissive)) as permissive,
        count(*) filter (where worst_below_median) as worst_below_median,
        count(*) filter (where worst_below_best) as worst_below_best
    from salience_criteria
    group by all
),

salience as (
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
        worst_below_best,
        citing_regressions_pct,
        citing_improvements_pct,
        citing_no_change_pct,
        risk_ratio, risk_ratio_low, risk_ratio_high,
        odds_ratio, odds_ratio_low, odds_ratio_high,
        about,
        -- Scores of examples are often equal: of the regressions in which the worst one differs from the others.
        100 * strict / nullif(worst_below_median, 0) as strict_untied_pct,
        100 * permissive / nullif(worst_below_best, 0) as permissive_untied_pct,
        runs,
        strict_low, strict_high,
        permissive_low, permissive_high,
        gap, gap_low, gap_high,
        [name for name in rough if name in ('strict', 'permissive', 'gap', 'risk_ratio', 'odds_ratio')] as rough
    from citing_rates
    join counted using (condition, env, variant)
    join associations using (condition, env, variant)
)

select * from salience order by condition, env, variant
