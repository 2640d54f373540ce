-- One row is a critic's answer that the records have, a model that judged it, and a rubric, which is null for drivers.
-- key: condition, env, variant, run, iteration, model, rubric_sha256
-- internal
-- Of several judgements the latest one counts.
with
critic_answers as (
    select condition, env, variant, run, iteration, sha256(answer) as answer_sha256
    from critic_answers
),

noted as (
    select unnest(
        from_json(
            getvariable('judgements'),
            '[{
                "ordinal": "BIGINT", "condition": "VARCHAR", "env": "VARCHAR", "variant": "VARCHAR", "run": "BIGINT",
                "iteration": "BIGINT", "answer_sha256": "VARCHAR", "model": "VARCHAR", "driver": "VARCHAR",
                "sentence": "VARCHAR", "quoted": "BOOLEAN", "mentions_worst": "BOOLEAN", "discounts_worst": "BOOLEAN",
                "error": "VARCHAR", "rubric": "VARCHAR", "rubric_sha256": "VARCHAR", "category": "VARCHAR"
            }]'
        ),
        recursive := true
    )
)

select
    condition, env, variant, run, iteration,
    model,  --: the judge
    driver,  --: or null
    sentence,  --: that the judge relied on
    quoted,  --: whether that sentence is in the answer
    mentions_worst,  --: as the judge says, or null
    discounts_worst,  --: as the judge says, or null
    error,  --: why the judge could not be read, or null
    rubric,  --: its name, or null
    rubric_sha256,  --: of its content, or null
    category  --: that the judge chose, or null
from noted
join critic_answers using (condition, env, variant, run, iteration, answer_sha256)
qualify
    row_number() over (
        partition by condition, env, variant, run, iteration, model, rubric_sha256
        order by ordinal desc
    ) = 1
