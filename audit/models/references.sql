-- One row per revision that a critic answered for: whether its answer refers to the worst rollout.
with
answers as (
    select condition, env, variant, run, iteration, revised.answer as answer
    from episodes
    where revised.source = 'critic'
),

"references" as (
    select
        condition, env, variant, run, iteration,
        getvariable('detector') as detector,
        regexp_matches(answer, getvariable('detector_pattern'), 'i') as references_worst
    from answers
)

select * from "references"
