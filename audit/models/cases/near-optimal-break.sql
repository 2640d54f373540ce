-- A policy near the optimum, revised for the worse; the paper's compulsive revision.
-- Score: loss, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    -delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where pattern = 'near_optimal_break'
