-- One row is a rollout of a candidate.
-- key: condition, env, variant, run, iteration, role, rollout
select
    condition, env, variant, run, iteration, role,
    unnest(range(len(returns))) as rollout,  --: index, from 0
    unnest(returns) as "return",  --: sum of its rewards
    unnest(lengths) as length,  --: steps
    unnest(seeds) as seed,  --: or null
    unnest(ended) as ended  --: terminated, truncated, or null
from candidates
