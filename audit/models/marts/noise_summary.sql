-- One row is a condition, task and method, by what chance alone would do.
-- key: condition, env, variant
-- cached
with
-- Other columns of salience_criteria have the names of columns of changes.
salience_criteria as (select condition, env, variant, run, iteration, strict, cites, about from salience_criteria),

counted as (
    select
        condition, env, variant,
        count(*) as revisions,
        count(p_no_change) as tested,
        count(*) filter (where direction = 'regression') as regressions,
        -- In order, since a sum of binary fractions depends on it.
        if(count(chance_initial) = tested, sum(chance_initial order by run, iteration), null) as expected_regressions,
        sum(chance_pooled order by run, iteration) as expected_pooled,
        if(tested = 0, null, count(*) filter (where direction = 'regression' and p_no_change <= 0.05)) as beyond_noise,
        if(count(strict) = 0, null, count(*) filter (where strict)) as strict,
        if(count(strict) = 0, null, count(*) filter (where strict and p_no_change <= 0.05)) as strict_beyond_noise,
        if(count(cites) = 0, null, count(*) filter (where direction = 'regression' and cites)) as citing_regressions,
        if(count(cites) = 0, null, count(*) filter (where direction = 'regression' and cites and p_no_change <= 0.05))
            as citing_beyond_noise,
        any_value(about) as about
    from changes
    join noise using (condition, env, variant, run, iteration)
    left join salience_criteria using (condition, env, variant, run, iteration)
    group by all
)

select
    condition, env, variant,
    revisions,  --: their number
    tested,  --: those whose candidates have equally many rollouts
    regressions,  --: number whose direction is regression
    100 * regressions / nullif(revisions, 0) as regressions_pct,  --: of revisions
    expected_regressions,  --: that running each initial candidate twice would have produced
    100 * expected_regressions / nullif(tested, 0) as expected_regressions_pct,  --: of tested revisions
    expected_pooled,  --: that splitting each revision's pooled returns at random would have produced
    100 * expected_pooled / nullif(tested, 0) as expected_pooled_pct,  --: of tested revisions
    beyond_noise,  --: regressions with p_no_change <= 0.05
    100 * beyond_noise / nullif(regressions, 0) as beyond_noise_pct,  --: of regressions
    strict,  --: salience-problem regressions by the detector; null where the critic did not see three rollouts
    strict_beyond_noise,  --: those with p_no_change <= 0.05
    100 * strict_beyond_noise / nullif(strict, 0) as strict_beyond_noise_pct,  --: of strict
    citing_regressions,  --: regressions whose critic refers to what is asked about; null where the critic did not see
    --: three rollouts
    citing_beyond_noise,  --: those with p_no_change <= 0.05
    about  --: what is asked about: worst, or as --about has it
from counted
order by condition, env, variant
