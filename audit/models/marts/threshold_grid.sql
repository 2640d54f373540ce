-- One row is a condition, task and method, and a value that one threshold of its edit patterns is moved to.
-- key: condition, env, variant, threshold, value, in_force
-- A variable holds the steps. A step is a factor, or a value for one task. A factor moves `partial` and `high` by their
-- distance from the floor, the other thresholds by their size, and counts to whole numbers. Tasks whose candidates are
-- texts are one, `text`: its values are shares of the range of scores, as in `edit_thresholds`.
with
limits as (
    select
        t.*,
        policy = 'text' as is_text,
        case when is_text then 'text' when env <> 'text' then env end as task,
        if(is_text, coalesce(score_range[1], 0), 0) as lowest_score,
        if(is_text, coalesce(score_range[2] - score_range[1], 1), 1) as span
    from edit_thresholds as t
    join run_records using (condition, env, variant, run)
),

steps as (
    select unnest(
        getvariable('threshold_steps')::struct(env varchar, threshold varchar, factor double, value double)[],
        recursive := true
    )
),

long as (
    unpivot (
        select
            condition, env, variant, is_text, task, lowest_score, span, floor as lowest,
            columns(* exclude (condition, env, variant, run, policy, origin, is_text, task, lowest_score, span))::double
        from limits
    )
    on columns(* exclude (condition, env, variant, is_text, task, lowest_score, span, lowest))
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
        where coalesce(steps.env = long.task, true) and coalesce(steps.threshold, long.threshold) = long.threshold
    )
    group by all
),

moved as (
    select distinct
        long.condition, long.env, long.variant, long.threshold,
        case
            when steps.value is not null then case
                when long.threshold in ('floor', 'partial', 'high') then lowest_score + span * steps.value
                when long.threshold in ('near_zero', 'meaningful') then span * steps.value
                else steps.value
            end
            when long.threshold in ('partial', 'high') then lowest + steps.factor * (in_use - lowest)
            when is_count(long.threshold) and not is_text then floor(steps.factor * in_use + 0.5)
            else steps.factor * in_use
        end as value
    from long
    join steps
        on coalesce(steps.env = long.task, true) and coalesce(steps.threshold, long.threshold) = long.threshold
),

used_and_moved as (
    select condition, env, variant, threshold, value_in_force as value, true as in_force
    from used
    union all
    select moved.*, false as in_force
    from moved
    join used using (condition, env, variant, threshold)
    where moved.value is distinct from used.value_in_force
)

select
    condition, env, variant,
    threshold,  --: its name
    value,  --: null where runs have thresholds of their own
    in_force  --: whether the patterns are judged by it now
from used_and_moved
order by condition, env, variant, threshold, value, in_force
