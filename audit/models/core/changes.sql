-- One row per revision: what it changed, and how the return changed.
with
revised_episodes as (select * from episodes where revised.source is not null),
policies as (select condition, env, variant, run, policy from thresholds),

compared as (
    select
        condition, env, variant, run, iteration,
        evidence_kind,
        initial.mean_return as r0,
        revised.mean_return as r1,
        policy,
        selected = 'revised' as accepted,
        rounding,
        tau_c,
        restrained,
        coalesce(initial.seeds = revised.seeds, initial.example_ids = revised.example_ids, false) as paired,
        -- A missing list is unknown, but DuckDB treats it as empty.
        if(
            initial.params is null or revised.params is null,
            null,
            list_transform(list_zip(initial.params, revised.params), lambda pair: pair[2] - pair[1])
        ) as differences
    from revised_episodes
    join policies using (condition, env, variant, run)
),

measured as (
    select
        *,
        r1 - r0 as delta,
        -- Parameters of linear policies have one decimal: half a decimal separates a change from a rounding error.
        if(policy = 'linear', 0.05, 0) as tolerance,
        list_filter(
            list_transform(differences, lambda d, position: if(abs(d) > tolerance, position - 1, null)),
            lambda index: index is not null
        ) as changed
    from compared
),

changes as (
    select
        condition, env, variant, run, iteration,
        evidence_kind,
        r0,
        r1,
        delta,
        case when delta < -rounding then 'regression' when delta > rounding then 'improvement' else 'no_change' end as direction,
        len(changed) as edit_distance,
        sqrt(list_sum(list_transform(differences, lambda d: d * d))) as l2_distance,
        list_max(list_transform(differences, lambda d: abs(d))) as max_change,
        changed,
        accepted,
        tau_c,
        restrained,
        paired
    from measured
)

select * from changes
