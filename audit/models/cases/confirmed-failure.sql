-- The median rollout failed as the worst one did, the answer cites the worst, and the return rose.
-- Score: gain, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    delta / (high - floor) as score
from revisions
join thresholds using (condition, env, variant, run)
where references_worst and structure = 'failure_confirmed' and direction = 'improvement'
