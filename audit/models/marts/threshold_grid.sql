-- One row per group and value that a threshold of its edit patterns is moved to, and one for the threshold in force.
-- The steps are passed in: a factor, which moves `partial` and `high` by their distance from the floor, the
-- others by their size, counts to whole numbers; or a value for one task.
with
thresholds as (select *, policy = 'text' as is_text from edit_thresholds),
steps as (
    select unnest(
        getvariable('threshold_steps')::struct(env varchar, threshold varchar, factor double, value double)[],
        recursive := true
    )
),

long as (
    unpivot (
        select
            condition, env, variant, is_text, floor as lowest,
            columns(* exclude (condition, env, variant, run, policy, origin, is_text))::double
        from thresholds
    )
    on columns(* exclude (condition, env, variant, is_text, lowest))
    into name threshold value in_use
),

-- Runs of a group may have thresholds of their own: then none is the group's.
used as (
    select
        condition, env, variant, threshold,
        if(min(in_use) = max(in_use), min(in_use), null) as value_in_force
    from long
    where exists (
        select 1 from steps
        where coalesce(steps.env, long.env) = long.env and coalesce(steps.threshold, long.threshold) = long.threshold
    )
    group by all
),

moved as (
    select distinct
        long.condition, long.env, long.variant, long.threshold,
        case
            when steps.value is not null then steps.value
            when long.threshold in ('partial', 'high') then lowest + steps.factor * (in_use - lowest)
            when is_count(long.threshold) and not is_text then floor(steps.factor * in_use + 0.5)
            else steps.factor * in_use
        end as value
    from long
    join steps
        on coalesce(steps.env, long.env) = long.env and coalesce(steps.threshold, long.threshold) = long.threshold
),

threshold_grid as (
    select condition, env, variant, threshold, value_in_force as value, true as in_force
    from used
    union all
    select moved.*, false as in_force
    from moved
    join used using (condition, env, variant, threshold)
    where moved.value is distinct from used.value_in_force
)

select * from threshold_grid order by condition, env, variant, threshold, value, in_force
