-- One row per revision whose critic's answer is recorded and whose evidence has the item asked about: whether the answer
-- refers to it, according to its mentions.
with
asked_items as (select * from asked_items),
mentions as (select * from mentions where part = 'answer'),
critic_answers as (select condition, env, variant, run, iteration, answer from critic_answers),

citing as (
    select distinct condition, env, variant, run, iteration, true as is_cited
    from mentions
    join asked_items using (condition, env, variant, run, iteration)
    where list_contains(labels, label) or list_contains(rollouts, rollout)
),

resolved_references as (
    select
        condition, env, variant, run, iteration,
        'resolved' as detector,
        getvariable('about') as about,
        unless_foreign(is_cited is not null, answer) as cites,
        if(about = 'worst', cites, null) as references_worst,
        null::boolean as discounts_worst
    from asked_items
    join critic_answers using (condition, env, variant, run, iteration)
    left join citing using (condition, env, variant, run, iteration)
)

select * from resolved_references
