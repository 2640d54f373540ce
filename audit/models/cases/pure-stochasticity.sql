-- Nothing was changed, and the return fell all the same.
-- Score: loss, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    -delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where pattern = 'pure_stochasticity'
