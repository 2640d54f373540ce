-- One row is a revision, by what it changed and how the return changed.
-- key: condition, env, variant, run, iteration
-- cached
with
compared as (
    select
        condition, env, variant, run, iteration,
        evidence_kind,
        initial.mean_return as r0,
        revised.mean_return as r1,
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
        ) as differences,
        r1 - r0 as delta,
        -- Parameters of linear policies have one decimal: half a decimal separates a change from a rounding error.
        if(policy = 'linear', 0.05, 0) as tolerance,
        list_filter(
            list_transform(differences, lambda d, position: if(abs(d) > tolerance, position - 1, null)),
            lambda index: index is not null
        ) as changed
    from episodes
    join thresholds using (condition, env, variant, run)
    where revised.source is not null
)

select
    condition, env, variant, run, iteration,
    evidence_kind,
    r0,  --: mean return of the initial candidate
    r1,  --: mean return of the revised candidate
    delta,  --: r1 - r0
    case
        when delta < -rounding then 'regression'
        when delta > rounding then 'improvement'
        else 'no_change'
    end as direction,  --: regression, improvement; no_change where delta is within rounding, a column of episodes
    len(changed) as edit_distance,  --: number of changed parameters; null for texts
    sqrt(list_sum(list_transform(differences, lambda d: d * d))) as l2_distance,
    --: Euclidean distance of the parameter vectors
    list_max(list_transform(differences, lambda d: abs(d))) as max_change,  --: largest change of a parameter
    changed,  --: indices of the changed parameters, from 0
    accepted,  --: whether the record says that the revised candidate was kept
    tau_c,
    restrained,
    paired  --: whether both candidates were scored on the same examples, or run with the same seeds
from compared
