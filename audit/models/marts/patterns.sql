-- One row per revision that changed the return, where parameters are known: the first edit pattern whose rule it meets.
with
changes as (select * from changes where direction <> 'no_change' and edit_distance is not null),
thresholds as (select * from thresholds),

patterns as (
    select
        condition, env, variant, run, iteration,
        direction,
        edit_pattern(r0, delta, edit_distance, thresholds) as pattern
    from changes
    join thresholds using (condition, env, variant, run)
)

select * from patterns
