-- One row per critic's answer, rubric and model that judged it: the latest judgement of the answer that the records have.
with
latest_judgements as (select * from latest_judgements where rubric_sha256 is not null),

rubric_judgements as (
    select condition, env, variant, run, iteration, model, rubric, rubric_sha256, category, sentence, quoted, error
    from latest_judgements
)

select * from rubric_judgements order by condition, env, variant, run, iteration, model, rubric, rubric_sha256
