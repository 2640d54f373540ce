-- A policy that achieved nothing, redesigned from scratch, and worse than before.
-- Score: loss, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    -delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where pattern = 'full_redesign'
