with
totals as (
    select condition, env, variant, threshold, value, in_force, sum(revisions) as total, sum(change) as changed
    from sensitivity
    group by all
),
revised as (
    select condition, env, variant, count(*) as all_of_them
    from patterns
    group by all
)
select *
from totals
join revised using (condition, env, variant)
where total <> all_of_them or changed <> 0
