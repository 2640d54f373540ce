select condition, env, variant, run, iteration
from revisions
left join patterns using (condition, env, variant, run, iteration)
where (revisions.direction = 'no_change') <> (pattern is null)
