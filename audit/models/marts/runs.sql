-- One row is a run with a finished iteration.
-- key: condition, env, variant, run
-- cached
select
    condition, env, variant, run,
    count(*) as iterations,  --: finished
    -- In order, since a sum of binary fractions depends on it.
    avg(kept_return order by iteration) as mean_return,  --: over iterations
    max(kept_return) as best_return,  --: over iterations
    arg_max(kept_return, iteration) as final_return  --: of the last iteration
from iterations
group by all
order by condition, env, variant, run
