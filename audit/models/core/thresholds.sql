-- One row is a run, by what its edit patterns are judged by.
-- key: condition, env, variant, run
-- cached
select
    condition, env, variant, run,
    policy, floor, partial, high, near_zero, meaningful,
    if(policy = 'text', null, surgical_max)::bigint as surgical_max,
    --: null for texts, as are the next two: see edit_thresholds
    if(policy = 'text', null, redesign_min)::bigint as redesign_min,
    if(policy = 'text', null, multi_state_min)::bigint as multi_state_min,
    origin
from edit_thresholds
