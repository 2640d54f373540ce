-- One row per revision whose critic saw the worst, the median and the best rollout, or a batch or a pair of scored items:
-- the two criteria. An answer in a language that the detector does not read is in no rate.
with
changes as (select * from changes where evidence_kind in ('three', 'batch', 'pair')),
evidence as (select * from evidence),
"references" as (select * from "references" where cites is not null),

salience_criteria as (
    select
        condition, env, variant, run, iteration,
        detector,
        direction,
        direction = 'regression' and worst_below_median as worst_below_median,
        direction = 'regression' and worst_below_best as worst_below_best,
        references_worst,
        -- Null where another item than the worst is asked about.
        if(references_worst is null, null, direction = 'regression' and worst_below_median and references_worst) as strict,
        if(references_worst is null, null, direction = 'regression' and worst_below_best and references_worst) as permissive,
        about,
        cites
    from changes
    join evidence using (condition, env, variant, run, iteration)
    join "references" using (condition, env, variant, run, iteration)
)

select * from salience_criteria
