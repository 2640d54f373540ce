-- One row is a revision that a critic answered for and whose evidence has the item asked about.
-- key: condition, env, variant, run, iteration
-- internal
-- The label and the rollout are those that mentions point at. A rollout's role needs no evidence: naming it is enough.
-- Items with equal scores have no roles.
with
examples as (
    select
        condition, env, variant, run, iteration,
        evidence_kind,
        initial.example_ids as example_ids
    from episodes
),

chosen as (
    select
        condition, env, variant, run, iteration,
        list_transform(shown, lambda each: each."return") as scores,
        evidence_kind in ('batch', 'pair') and list_max(scores) - list_min(scores) <= rounding as are_equal,
        case getvariable('about_kind')
            when 'place' then shown[getvariable('about_place')]
            when 'label' then
                list_filter(
                    shown,
                    lambda each: lower(getvariable('about_name')) in (lower(each.label), lower(each.name))
                )[1]
        end as item,
        -- An example's id, or a rollout's index.
        coalesce(
            list_position(example_ids, getvariable('about_name')) - 1,
            if(example_ids is null, try_cast(getvariable('about_name') as bigint), null)
        ) as index
    from critic_answers
    join examples using (condition, env, variant, run, iteration)
)

select
    condition, env, variant, run, iteration,
    case
        when getvariable('about_kind') = 'role' and are_equal then null
        when getvariable('about_kind') = 'role' then getvariable('about_name')
        -- All items of a batch have one label, and are known by their headings.
        when item.label = 'item' then lower(item.name)
        else item.label
    end as label,  --: by which mentions point at it, or null
    if(getvariable('about_kind') = 'id', index, item.rollout) as rollout  --: its index, or null
from chosen
where label is not null or rollout is not null or getvariable('about_kind') = 'own'
