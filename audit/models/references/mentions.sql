-- One row per mention of a rollout in a critic's answer or thinking, as `audit/references` found them.
select *
from written_mentions(getvariable('mentions_file'))
order by condition, env, variant, run, iteration, part, ordinal
