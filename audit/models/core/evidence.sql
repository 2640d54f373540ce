-- One row per revision whose single returns are known: the worst, the median and the best of the initial candidate's rollouts.
-- The median rollout is the one whose return is closest to the sample median; of equals the first counts.
with
revised_episodes as (
    select
        condition, env, variant, run, iteration,
        initial.returns as returns,
        list_sort(initial.returns) as ordered,
        shown,
        list_transform(shown, lambda each: each.label) as labels
    from episodes
    where revised is not null and initial.returns is not null
),

centred as (
    select
        *,
        (ordered[(len(ordered) + 1) // 2] + ordered[len(ordered) // 2 + 1]) / 2 as sample_median
    from revised_episodes
),

located as (
    select
        *,
        list_position(returns, ordered[1]) as worst_position,
        list_position(returns, ordered[-1]) as best_position,
        list_transform(returns, lambda r: abs(r - sample_median)) as distances
    from centred
),

chosen as (
    select
        condition, env, variant, run, iteration,
        worst_position - 1 as worst_rollout,
        list_position(distances, list_min(distances)) - 1 as median_rollout,
        best_position - 1 as best_rollout,
        returns[worst_rollout + 1] as worst,
        returns[median_rollout + 1] as median,
        returns[best_rollout + 1] as best,
        list_position(labels, 'worst') as worst_place,
        list_position(labels, 'median') as median_place,
        list_position(labels, 'best') as best_place,
        if(worst_place > 0, coalesce(shown[worst_place].name, 'worst'), null) as worst_name,
        if(median_place > 0, coalesce(shown[median_place].name, 'median'), null) as median_name,
        if(best_place > 0, coalesce(shown[best_place].name, 'best'), null) as best_name
    from located
),

compared as (
    select
        *,
        median - worst > 1e-12 as worst_below_median,
        best - median > 1e-12 as median_below_best,
        best - worst > 1e-12 as worst_below_best
    from chosen
),

evidence as (
    select
        *,
        if(worst_below_best, (median - worst) / (best - worst), null) as severity,
        case
            when worst_below_median and median_below_best then 'all_diverse'
            when worst_below_median then 'preservation_favored'
            when median_below_best then 'failure_confirmed'
            else 'identical'
        end as structure
    from compared
)

select * from evidence
