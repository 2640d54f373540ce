-- One row is a run whose critic saw three rollouts, by how its revisions turned out and what they cite.
-- key: condition, env, variant, run
-- internal
select
    condition, env, variant, run,
    detector,  --: how references are found
    count(*) filter (where direction = 'regression' and cites) as citing_regressions,
    --: regressions whose critic refers to the worst rollout
    count(*) filter (where direction = 'regression' and not cites) as other_regressions,
    --: regressions whose critic does not
    count(*) filter (where direction <> 'regression' and cites) as citing_others,
    --: improvements and unchanged returns whose critic does
    count(*) filter (where direction <> 'regression' and not cites) as other_others,  --: those whose critic does not
    count(*) filter (where direction = 'regression') as regressions,  --: their number
    if(count(strict) = 0, null, count(*) filter (where strict)) as strict,
    --: strict salience-problem regressions; null where another item than the worst is asked about
    if(count(permissive) = 0, null, count(*) filter (where permissive)) as permissive,  --: permissive ones; likewise
    count(*) filter (where direction = 'improvement') as improvements,  --: their number
    count(*) filter (where direction = 'improvement' and cites) as citing_improvements,
    --: those whose critic refers to it
    count(*) filter (where direction = 'no_change') as no_change,  --: their number
    count(*) filter (where direction = 'no_change' and cites) as citing_no_change  --: those whose critic refers to it
from salience_criteria
group by all
