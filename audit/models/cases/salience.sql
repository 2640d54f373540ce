-- A salience-problem regression, strict: the answer cites a worst rollout that was an outlier, and the return fell.
-- Score: severity times loss in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    severity * -delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where strict
