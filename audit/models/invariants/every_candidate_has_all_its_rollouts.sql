with
counted as (
    select condition, env, variant, run, iteration, role, count(*) as rollouts, avg("return") as mean_return
    from rollouts
    group by all
)
select *
from candidates
join counted using (condition, env, variant, run, iteration, role)
where len(returns) <> counted.rollouts or abs(candidates.mean_return - counted.mean_return) > 1e-3
