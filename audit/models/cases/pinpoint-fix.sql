-- A small edit of a policy that worked in part, that made it better.
-- Score: gain, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where pattern = 'pinpoint_fix'
