-- One row is a revision that a critic answered for, by the findings of a user's own function.
-- key: condition, env, variant, run, iteration
-- A pair of offsets is a reference whatever is asked about, and so is every finding of a detector that asks of no item.
with
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
)

select
    condition, env, variant, run, iteration,
    getvariable('detector') as detector,  --: its name
    getvariable('about') as about,
    discounts is not null as cites,  --: whether the answer refers to it, as the detector finds
    if(about = 'worst', cites, null) as references_worst,  --: cites, where the worst item is asked about; else null
    if(about = 'worst', coalesce(discounts, false), null) as discounts_worst
    --: whether such a finding discounts it; likewise
from asked_items
left join citing using (condition, env, variant, run, iteration)
