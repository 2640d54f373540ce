-- One row is a condition, task and method, a value that one threshold is moved to, and an edit pattern that occurs with
-- some value of that threshold.
-- key: condition, env, variant, threshold, value, in_force, pattern
with
moved as (
    select
        g.condition, g.env, g.variant, g.threshold, g.value, g.in_force,
        edit_pattern(
            r.r0, r.delta, r.edit_size,
            with_threshold(t, if(g.in_force, null, g.threshold), g.value)
        ) as pattern
    from edit_sizes as r
    join edit_thresholds as t using (condition, env, variant, run)
    join threshold_grid as g using (condition, env, variant)
),

counted as (
    select condition, env, variant, threshold, value, in_force, pattern, count(*) as revisions
    from moved
    group by all
),

-- A pattern that no revision has at one value, though it has some at another, counts as none there.
occurring as (select distinct condition, env, variant, threshold, pattern from counted),
settings as (select distinct condition, env, variant, threshold, value, in_force from counted)

select
    s.condition, s.env, s.variant,
    s.threshold,  --: the one that is moved, the others as they are
    s.value,  --: that it is moved to; null where runs have thresholds of their own
    s.in_force,
    o.pattern,  --: edit pattern
    coalesce(c.revisions, 0) as revisions,  --: with that pattern, at that value
    coalesce(c.revisions, 0) - max(coalesce(c.revisions, 0)) filter (where s.in_force) over same as change
    --: revisions more than with the thresholds in force
from settings as s
join occurring as o using (condition, env, variant, threshold)
left join counted as c
    on c.condition = s.condition and c.env = s.env and c.variant = s.variant and c.threshold = s.threshold
    and c.value is not distinct from s.value and c.in_force = s.in_force and c.pattern = o.pattern
window same as (partition by s.condition, s.env, s.variant, s.threshold, o.pattern)
order by s.condition, s.env, s.variant, s.threshold, s.value, s.in_force, o.pattern
