-- One row per revision whose answer the chosen model has judged by a rubric: whether its category counts as a reference.
with
rubric_judgements as (select * from rubric_judgements where rubric_sha256 = getvariable('rubric') and model = getvariable('judge')),

rubric_references as (
    select
        condition, env, variant, run, iteration,
        getvariable('detector') as detector,
        getvariable('about') as about,
        list_contains(getvariable('rubric_counts'), category) as cites,
        if(about = 'worst', cites, null) as references_worst,
        null::boolean as discounts_worst
    from rubric_judgements
    where category is not null
)

select * from rubric_references
