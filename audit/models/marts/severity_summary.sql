-- One row is a condition, task and method that shows three rollouts, and a degree of severity that occurs.
-- key: condition, env, variant, degree
-- cached
-- On tasks with continuous returns the yes-or-no criterion worst < median nearly always holds; this is the graded one.
select
    condition, env, variant,
    detector,  --: how references are found
    severity_degree(severity) as degree,
    --: severity: 0, up to a quarter and so on, 1, or undefined where all returns are equal
    count(*) as revisions,  --: their number
    count(*) filter (where cites) as citing,  --: whose critic refers to the worst rollout
    100 * citing / count(*) as citing_pct,  --: of revisions
    count(*) filter (where criteria.direction = 'regression') as regressions,  --: number whose direction is regression
    100 * regressions / count(*) as regressions_pct,  --: of revisions
    count(*) filter (where criteria.direction = 'regression' and cites) as citing_regressions,
    --: regressions whose critic refers to it
    100 * citing_regressions / nullif(citing, 0) as regressions_citing_pct,  --: of the revisions that cite
    100 * count(*) filter (where criteria.direction = 'regression' and not cites)
        / nullif(count(*) filter (where not cites), 0)
        as regressions_not_citing_pct,  --: of those that do not
    avg(delta order by run, iteration) as mean_delta,  --: mean change of return
    about  --: what citing refers to: worst, or as --about has it
from salience_criteria as criteria
join evidence using (condition, env, variant, run, iteration)
join changes using (condition, env, variant, run, iteration)
group by condition, env, variant, detector, degree, about
order by condition, env, variant, degree = 'undefined', degree
