-- One row per revision that a critic answered for: whether its main change is justified by what is asked about.
with
drivers as (select * from drivers),

driver_references as (
    select
        condition, env, variant, run, iteration,
        'driver' as detector,
        getvariable('about') as about,
        driver = about as cites,
        if(about = 'worst', cites, null) as references_worst,
        null::boolean as discounts_worst
    from drivers
)

select * from driver_references
