-- One row is a revision, by the returns of both candidates.
-- key: condition, env, variant, run, iteration
-- internal
select
    condition, env, variant, run, iteration,
    initial.returns as before,  --: of the initial candidate, one per rollout
    revised.returns as after,  --: of the revised candidate
    coalesce(initial.seeds = revised.seeds, false) as same_seeds,  --: whether both were run on the same seeds
    coalesce(initial.example_ids = revised.example_ids, false) as same_examples
    --: whether both were scored on the same examples
from episodes
where revised.source is not null
