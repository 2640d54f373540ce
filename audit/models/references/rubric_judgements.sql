-- One row is a critic's answer that the records have, a rubric, and a model that judged the answer by it.
-- key: condition, env, variant, run, iteration, model, rubric_sha256
select
    condition, env, variant, run, iteration, model,
    rubric,  --: its name
    rubric_sha256,  --: of its question and categories
    category,  --: that the judge chose; null where it could not be read
    sentence, quoted, error
from latest_judgements
where rubric_sha256 is not null
order by condition, env, variant, run, iteration, model, rubric, rubric_sha256
