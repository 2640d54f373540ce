-- One row per critic's answer and model that judged what drove it: the latest judgement of the answer that the records have.
with
latest_judgements as (select * from latest_judgements where rubric_sha256 is null),

judgements as (select * exclude (rubric, rubric_sha256, category) from latest_judgements)

select * from judgements order by condition, env, variant, run, iteration, model
