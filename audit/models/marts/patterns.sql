-- One row is a revision that changed the return, by its edit pattern.
-- key: condition, env, variant, run, iteration
-- cached
select
    condition, env, variant, run, iteration,
    direction,
    edit_pattern(r0, delta, edit_size, edit_thresholds) as pattern  --: the first rule that holds
from edit_sizes
join edit_thresholds using (condition, env, variant, run)
