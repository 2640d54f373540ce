-- The counterpart of salience: the answer cites a worst rollout that was an outlier, and the return rose.
-- Score: severity times gain in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    severity * delta / (high - floor) as score
from "references"
join evidence using (condition, env, variant, run, iteration)
join changes using (condition, env, variant, run, iteration)
join thresholds using (condition, env, variant, run)
where references_worst and worst_below_median and direction = 'improvement'
