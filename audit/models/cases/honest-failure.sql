-- A small edit of a policy that worked in part or better, argued for without the worst rollout, that made it worse.
-- Score: loss, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    -delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where r0 > partial and delta < -meaningful and edit_distance between 1 and surgical_max and not references_worst
