select condition, env, variant, run, iteration
from revisions
left join patterns using (condition, env, variant, run, iteration)
where (revisions.direction = 'no_change' or edit_distance is null) <> (pattern is null)
