-- One row is a condition, task and method, and an edit pattern that occurs.
-- key: condition, env, variant, pattern
-- cached
with
totals as (select condition, env, variant, count(direction) as all_revisions from changes group by all)

select
    condition, env, variant, pattern,
    count(*) as revisions,  --: number with that pattern
    100 * count(*) / any_value(all_revisions) as pct  --: of all revisions
from patterns
join totals using (condition, env, variant)
group by all
order by condition, env, variant, pattern
