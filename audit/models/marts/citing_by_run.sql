-- One row per run whose critic saw three rollouts: how its revisions fall into regressions and others, citing and not.
with
salience_criteria as (select * from salience_criteria),

citing_by_run as (
    select
        condition, env, variant, run, detector,
        count(*) filter (where direction = 'regression' and cites) as citing_regressions,
        count(*) filter (where direction = 'regression' and not cites) as other_regressions,
        count(*) filter (where direction <> 'regression' and cites) as citing_others,
        count(*) filter (where direction <> 'regression' and not cites) as other_others
    from salience_criteria
    group by all
)

select * from citing_by_run
