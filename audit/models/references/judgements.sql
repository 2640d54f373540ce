-- One row is a critic's answer that the records have, and a model that judged it.
-- key: condition, env, variant, run, iteration, model
select
    condition, env, variant, run, iteration, model,
    driver,  --: what the main change is chiefly justified by; null where the judge could not be read
    sentence, quoted, mentions_worst, discounts_worst, error
from latest_judgements
where rubric_sha256 is null
order by condition, env, variant, run, iteration, model
