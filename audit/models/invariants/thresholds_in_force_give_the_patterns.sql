select *
from sensitivity
left join patterns_summary using (condition, env, variant, pattern)
where in_force and (sensitivity.revisions <> coalesce(patterns_summary.revisions, 0) or change <> 0)
