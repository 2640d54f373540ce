-- One row is a finding of a user's own detector, where it is a function.
-- key: condition, env, variant, run, iteration, ordinal
-- cached
with
found as (
    select
        condition, env, variant, run, iteration,
        unnest(
            find_with_detector(getvariable('detector_key')[1], critic_answers)::struct(
                ordinal bigint,  --: from 0
                "start" bigint,  --: offset in characters
                "end" bigint,  --: offset behind the last character
                "text" varchar,  --: as it is written
                labels varchar[],  --: of its targets
                rollouts bigint[],  --: indices of its targets, where known
                negated boolean,  --: as the function has it
                discounted boolean,  --: as the function has it
                is_span boolean  --: whether it is a pair of offsets, without a target
            )[],
            max_depth := 2
        )
    from critic_answers
)

select * from found order by condition, env, variant, run, iteration, ordinal
