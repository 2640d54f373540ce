-- One row per revision that a critic answered for: whether its main change is justified by what is asked about.
with
drivers as (select * from drivers),
critic_answers as (select condition, env, variant, run, iteration, answer from critic_answers),

driver_references as (
    select
        condition, env, variant, run, iteration,
        'driver' as detector,
        getvariable('about') as about,
        unless_foreign(driver = about, answer) as cites,
        if(about = 'worst', cites, null) as references_worst,
        null::boolean as discounts_worst
    from drivers
    join critic_answers using (condition, env, variant, run, iteration)
)

select * from driver_references
