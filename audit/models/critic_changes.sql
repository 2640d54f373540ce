-- One row per revision that a critic answered for: what it wrote, what of the rollouts it was told, and what it changed.
with
critic_answers as (select * from critic_answers),
revisions as (select condition, env, variant, run, iteration, changed from revisions),

critic_changes as (
    select
        condition, env, variant, run, iteration,
        answer,
        shown,
        returns,
        lengths,
        statistics,
        changed
    from critic_answers
    join revisions using (condition, env, variant, run, iteration)
)

select * from critic_changes
