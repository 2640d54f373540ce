select condition, env, variant, run, iteration
from changes
left join patterns using (condition, env, variant, run, iteration)
where (changes.direction = 'no_change' or edit_distance is null) <> (pattern is null)
