-- One row per revision whose critic's answer is recorded: whether its answer refers to the worst rollout, and whether it
-- discounts it, according to its mentions.
with
critic_answers as (select condition, env, variant, run, iteration from critic_answers),
mentions as (select * from mentions where part = 'answer' and worst),

citing as (
    select condition, env, variant, run, iteration, bool_or(discounted) as discounts_worst
    from mentions
    group by all
),

resolved_references as (
    select
        condition, env, variant, run, iteration,
        'resolved' as detector,
        discounts_worst is not null as references_worst,
        coalesce(discounts_worst, false) as discounts_worst
    from critic_answers
    left join citing using (condition, env, variant, run, iteration)
)

select * from resolved_references
