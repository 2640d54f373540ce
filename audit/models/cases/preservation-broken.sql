-- The median rollout was as good as the best, so that there was much to preserve, and the return fell.
-- Score: loss, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    -delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where structure = 'preservation_favored' and direction = 'regression'
