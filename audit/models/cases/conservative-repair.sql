-- A policy near the optimum, mended by a small edit.
-- Score: gain per changed parameter, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    delta / edit_distance / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where r0 > high and direction = 'improvement' and edit_distance between 1 and surgical_max
