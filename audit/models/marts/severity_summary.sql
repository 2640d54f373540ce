-- One row per condition, task and method that shows three rollouts, and degree to which the worst one stands out: how often
-- it is cited, and how revisions turn out. On tasks with continuous returns the yes-or-no criterion worst < median nearly
-- always holds; this is the graded one.
with
salience_criteria as (select * from salience_criteria),
evidence as (select condition, env, variant, run, iteration, severity from evidence),
changes as (select condition, env, variant, run, iteration, delta from changes),

graded as (
    select
        salience_criteria.*,
        severity,
        delta,
        severity_degree(severity) as degree
    from salience_criteria
    join evidence using (condition, env, variant, run, iteration)
    join changes using (condition, env, variant, run, iteration)
),

severity_summary as (
    select
        condition, env, variant, detector, degree,
        count(*) as revisions,
        count(*) filter (where cites) as citing,
        100 * count(*) filter (where cites) / count(*) as citing_pct,
        count(*) filter (where direction = 'regression') as regressions,
        100 * count(*) filter (where direction = 'regression') / count(*) as regressions_pct,
        count(*) filter (where direction = 'regression' and cites) as citing_regressions,
        100 * count(*) filter (where direction = 'regression' and cites) / nullif(count(*) filter (where cites), 0)
            as regressions_citing_pct,
        100 * count(*) filter (where direction = 'regression' and not cites)
            / nullif(count(*) filter (where not cites), 0)
            as regressions_not_citing_pct,
        avg(delta order by run, iteration) as mean_delta,
        about
    from graded
    group by all
)

select * from severity_summary order by condition, env, variant, degree = 'undefined', degree
