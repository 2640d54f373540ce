-- One row per condition, task, method and edit pattern that occurs; percentages are of all revisions.
with
patterns as (select * from patterns),
changes as (select condition, env, variant, direction from changes),
totals as (select condition, env, variant, count(direction) as all_revisions from changes group by all),

counted as (
    select condition, env, variant, pattern, count(*) as revisions
    from patterns
    group by all
),

patterns_summary as (
    select
        condition, env, variant, pattern,
        revisions,
        100 * revisions / all_revisions as pct
    from counted
    join totals using (condition, env, variant)
)

select * from patterns_summary order by condition, env, variant, pattern
