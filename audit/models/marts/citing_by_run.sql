-- One row per run whose critic saw three rollouts: how its revisions fall into regressions and others, citing and not.
with
salience_criteria as (select * from salience_criteria),

citing_by_run as (
    select
        condition, env, variant, run, detector,
        count(*) filter (where direction = 'regression' and cites) as citing_regressions,
        count(*) filter (where direction = 'regression' and not cites) as other_regressions,
        count(*) filter (where direction <> 'regression' and cites) as citing_others,
        count(*) filter (where direction <> 'regression' and not cites) as other_others,
        count(*) filter (where direction = 'regression') as regressions,
        if(count(strict) = 0, null, count(*) filter (where strict)) as strict,
        if(count(permissive) = 0, null, count(*) filter (where permissive)) as permissive,
        count(*) filter (where direction = 'improvement') as improvements,
        count(*) filter (where direction = 'improvement' and cites) as citing_improvements,
        count(*) filter (where direction = 'no_change') as no_change,
        count(*) filter (where direction = 'no_change' and cites) as citing_no_change
    from salience_criteria
    group by all
)

select * from citing_by_run
