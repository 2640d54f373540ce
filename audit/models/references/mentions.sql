-- One row is a mention of a rollout in a critic's answer or thinking.
-- key: condition, env, variant, run, iteration, part, ordinal
-- cached
-- Found by `audit/references`.
with
found as (
    select
        condition, env, variant, run, iteration,
        unnest(
            find_mentions(critic_answers)::struct(
                part varchar,  --: answer or thinking, each searched by itself
                ordinal bigint,  --: from 0, within the part
                "start" bigint,  --: offset in characters
                "end" bigint,  --: offset behind the last character
                "text" varchar,  --: as it is written
                kind varchar,  --: label, index, return, paraphrase
                labels varchar[],  --: worst, median, best, representative: the roles of its targets
                rollouts bigint[],  --: indices of its targets, where known
                worst boolean,  --: whether a target is the worst rollout
                negated boolean,  --: the statement is denied of the rollout, or it is the one not meant
                discounted boolean  --: null: no rule reads it
            )[],
            max_depth := 2
        )
    from critic_answers
)

select * from found order by condition, env, variant, run, iteration, part, ordinal
