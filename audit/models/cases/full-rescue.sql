-- A policy that achieved nothing, revised into one that works well.
-- Score: gain, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where abs(r0 - floor) <= near_zero and r1 > high
