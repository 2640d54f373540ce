-- One row per group, value of one threshold and edit pattern that occurs in the group with any of that threshold's values:
-- how many revisions have the pattern when that threshold alone is moved, and how many more that is than before.
with
edit_sizes as (select * from edit_sizes),
limits as (select * from edit_thresholds),
threshold_grid as (select * from threshold_grid),

moved as (
    select
        g.condition, g.env, g.variant, g.threshold, g.value, g.in_force,
        edit_pattern(
            r.r0, r.delta, r.edit_size,
            with_threshold(t, if(g.in_force, null, g.threshold), g.value)
        ) as pattern
    from edit_sizes as r
    join limits as t using (condition, env, variant, run)
    join threshold_grid as g using (condition, env, variant)
),

counted as (
    select condition, env, variant, threshold, value, in_force, pattern, count(*) as revisions
    from moved
    group by all
),

-- A pattern that no revision has at one value, though it has some at another, counts as none there.
occurring as (select distinct condition, env, variant, threshold, pattern from counted),
settings as (select distinct condition, env, variant, threshold, value, in_force from counted),

completed as (
    select
        s.condition, s.env, s.variant, s.threshold, s.value, s.in_force,
        o.pattern,
        coalesce(c.revisions, 0) as revisions
    from settings as s
    join occurring as o using (condition, env, variant, threshold)
    left join counted as c
        on c.condition = s.condition and c.env = s.env and c.variant = s.variant and c.threshold = s.threshold
        and c.value is not distinct from s.value and c.in_force = s.in_force and c.pattern = o.pattern
),

sensitivity as (
    select
        completed.*,
        completed.revisions - now.revisions as change
    from completed
    join completed as now using (condition, env, variant, threshold, pattern)
    where now.in_force
)

select * from sensitivity order by condition, env, variant, threshold, value, in_force, pattern
