-- One row per mention in a critic's answer whose prompt shows several items: of these alone, unless `mentions` is there.
select *
from written_mentions(getvariable('shown_mentions_file'))
order by condition, env, variant, run, iteration, part, ordinal
