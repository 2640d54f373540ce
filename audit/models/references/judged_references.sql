-- One row per revision whose answer the chosen model has judged: whether its driver is what is asked about. Answers that it
-- has not judged, or not readably, have no row, so that all rates are of those judged.
with
judgements as (select * from judgements where model = getvariable('judge') and driver is not null),

judged_references as (
    select
        condition, env, variant, run, iteration,
        'judge' as detector,
        getvariable('about') as about,
        driver = about as cites,
        if(about = 'worst', cites, null) as references_worst,
        if(about = 'worst', discounts_worst, null) as discounts_worst
    from judgements
)

select * from judged_references
