-- One row per revision that a critic answered for: whether the worst rollout is what its main change is justified by.
with
drivers as (select * from drivers),

driver_references as (
    select
        condition, env, variant, run, iteration,
        'driver' as detector,
        driver = 'worst' as references_worst,
        null::boolean as discounts_worst
    from drivers
)

select * from driver_references
