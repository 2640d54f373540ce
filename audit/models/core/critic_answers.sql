-- One row per revision whose critic's answer is recorded: what it wrote, and what it was shown of the rollouts.
with
episodes as (select * from episodes),

critic_answers as (
    select
        condition, env, variant, run, iteration,
        if(revised.text is null and initial.text is null, revised.answer, rationale(revised.answer, revised.text)) as answer,
        revised.thinking as thinking,
        shown,
        initial.returns as returns,
        initial.lengths as lengths,
        statistics,
        rounding
    from episodes
    where revised.source = 'critic' and revised.answer is not null
        and answer is not null
)

select * from critic_answers
