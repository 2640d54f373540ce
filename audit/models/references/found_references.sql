-- One row per revision whose critic's answer is recorded and whose evidence has the item asked about: whether a user's
-- function finds a reference to it. A pair of offsets is one whatever is asked about, and so is every finding of a
-- detector that asks of no item.
with
asked_items as (select * from asked_items),
findings as (select * from findings),

citing as (
    select condition, env, variant, run, iteration, bool_or(coalesce(discounted, false)) as discounts
    from findings
    join asked_items using (condition, env, variant, run, iteration)
    where
        is_span
        or getvariable('about_kind') = 'own'
        or list_contains(labels, label)
        or list_contains(rollouts, rollout)
    group by all
),

found_references as (
    select
        condition, env, variant, run, iteration,
        getvariable('detector') as detector,
        getvariable('about') as about,
        discounts is not null as cites,
        if(about = 'worst', cites, null) as references_worst,
        if(about = 'worst', coalesce(discounts, false), null) as discounts_worst
    from asked_items
    left join citing using (condition, env, variant, run, iteration)
)

select * from found_references
