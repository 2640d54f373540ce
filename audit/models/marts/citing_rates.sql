-- One row is a condition, task and method that shows three rollouts, by who cites the worst one.
-- key: condition, env, variant
-- cached
select
    condition, env, variant,
    detector,  --: how references are found
    count(*) as revisions,  --: their number
    count(*) filter (where direction = 'regression') as regressions,  --: their number
    count(*) filter (where direction = 'regression' and cites) as citing_regressions,
    --: those whose critic refers to the worst rollout
    100 * citing_regressions / nullif(regressions, 0) as citing_regressions_pct,  --: of regressions
    count(*) filter (where direction = 'improvement') as improvements,  --: their number
    count(*) filter (where direction = 'improvement' and cites) as citing_improvements,
    --: those whose critic refers to it
    100 * citing_improvements / nullif(improvements, 0) as citing_improvements_pct,  --: of improvements
    count(*) filter (where direction = 'no_change') as no_change,  --: their number
    count(*) filter (where direction = 'no_change' and cites) as citing_no_change,  --: those whose critic refers to it
    100 * citing_no_change / nullif(no_change, 0) as citing_no_change_pct,  --: of unchanged returns
    about  --: what citing refers to: worst, or as --about has it
from salience_criteria
group by all
