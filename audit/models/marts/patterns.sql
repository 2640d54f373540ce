-- One row per revision that changed the return, where its edit has a size: the first edit pattern whose rule it meets.
with
edit_sizes as (select * from edit_sizes),
edit_thresholds as (select * from edit_thresholds),

patterns as (
    select
        condition, env, variant, run, iteration,
        direction,
        edit_pattern(r0, delta, edit_size, edit_thresholds) as pattern
    from edit_sizes
    join edit_thresholds using (condition, env, variant, run)
)

select * from patterns
