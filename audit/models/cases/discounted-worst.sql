-- The answer mentions a worst rollout that was an outlier, and sets it aside as rare or not to be designed around.
-- Score: severity, 1 where the median rollout was as good as the best.
select
    condition, env, variant, run, iteration,
    severity as score
from resolved_references
join evidence using (condition, env, variant, run, iteration)
where discounts_worst and worst_below_median
