-- One row per condition, task and method: how many regressions there are, how many no change would have produced, and how
-- many are more than chance.
with
changes as (select * from changes),
noise as (select * from noise),
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
),

noise_summary as (
    select
        condition, env, variant,
        revisions,
        tested,
        regressions,
        100 * regressions / nullif(revisions, 0) as regressions_pct,
        expected_regressions,
        100 * expected_regressions / nullif(tested, 0) as expected_regressions_pct,
        expected_pooled,
        100 * expected_pooled / nullif(tested, 0) as expected_pooled_pct,
        beyond_noise,
        100 * beyond_noise / nullif(regressions, 0) as beyond_noise_pct,
        strict,
        strict_beyond_noise,
        100 * strict_beyond_noise / nullif(strict, 0) as strict_beyond_noise_pct,
        citing_regressions,
        citing_beyond_noise,
        about
    from counted
)

select * from noise_summary order by condition, env, variant
