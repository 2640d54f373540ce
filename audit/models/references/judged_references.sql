-- One row per revision whose answer the chosen model has judged: whether its driver is the worst rollout. Answers that it
-- has not judged, or not readably, have no row, so that all rates are of those judged.
with
judgements as (select * from judgements where model = getvariable('judge') and driver is not null),

judged_references as (
    select
        condition, env, variant, run, iteration,
        'judge' as detector,
        driver = 'worst' as references_worst,
        discounts_worst
    from judgements
)

select * from judged_references
