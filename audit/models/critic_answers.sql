-- One row per revision that a critic answered for: what it wrote, and what of the rollouts it was told.
with
episodes as (select * from episodes),

critic_answers as (
    select
        condition, env, variant, run, iteration,
        revised.answer as answer,
        revised.thinking as thinking,
        shown,
        initial.returns as returns,
        initial.lengths as lengths,
        statistics
    from episodes
    where revised.source = 'critic'
)

select * from critic_answers
