-- A policy that achieved nothing, redesigned from scratch, and better for it.
-- Score: gain, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where pattern = 'history_guided_rescue'
