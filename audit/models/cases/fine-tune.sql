-- A small edit of a policy near the optimum, that made it better still.
-- Score: gain, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where pattern = 'fine_tune'
