-- One row is a revision that changed the return and whose edit has a size.
-- key: condition, env, variant, run, iteration
select
    condition, env, variant, run, iteration,
    r0, delta,
    direction,  --: regression or improvement
    coalesce(edit_distance, edit_ratio) as edit_size  --: changed parameters, or edit_ratio of a text
from changes
left join text_edits using (condition, env, variant, run, iteration)
anti join unscaled_runs using (condition, env, variant, run)
where direction <> 'no_change' and edit_size is not null
