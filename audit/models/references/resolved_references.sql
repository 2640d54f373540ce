-- One row is a revision that a critic answered for, by its mentions.
-- key: condition, env, variant, run, iteration
with
citing as (
    select distinct condition, env, variant, run, iteration, true as is_cited
    from mentions
    join asked_items using (condition, env, variant, run, iteration)
    where part = 'answer' and (list_contains(labels, label) or list_contains(rollouts, rollout))
)

select
    condition, env, variant, run, iteration,
    'resolved' as detector,  --: resolved
    getvariable('about') as about,
    unless_foreign(is_cited is not null, answer) as cites,  --: whether the answer refers to it, as the detector finds;
    --: null in another language than English, which it does not read
    if(about = 'worst', cites, null) as references_worst,  --: whether a mention in the answer points at the worst
    --: rollout; null where another item is asked about
    null::boolean as discounts_worst  --: null: no rule reads it
from asked_items
join critic_answers using (condition, env, variant, run, iteration)
left join citing using (condition, env, variant, run, iteration)
