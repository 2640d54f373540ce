-- One row is a condition, task and method that shows three rollouts, and an agreement structure that occurs.
-- key: condition, env, variant, structure
-- cached
select
    condition, env, variant, structure,
    count(*) as revisions,  --: number with that structure
    -- In order, since a sum of binary fractions depends on it.
    avg(delta order by run, iteration) as mean_delta  --: of these
from changes
join evidence using (condition, env, variant, run, iteration)
where evidence_kind in ('three', 'batch') and structure is not null
group by all
order by condition, env, variant, structure
