select condition, env, variant, run, iteration
from changes
left join edit_sizes using (condition, env, variant, run, iteration)
left join patterns using (condition, env, variant, run, iteration)
where (edit_size is null) <> (pattern is null)
    or (edit_distance is not null and (changes.direction = 'no_change') <> (pattern is null))
