-- One row is a revision whose answer the chosen model has judged by the rubric asked for.
-- key: condition, env, variant, run, iteration
select
    condition, env, variant, run, iteration,
    getvariable('detector') as detector,  --: the name of the rubric
    getvariable('about') as about,
    list_contains(getvariable('rubric_counts'), category) as cites,  --: whether the answer refers to it, as the
    --: detector finds
    if(about = 'worst', cites, null) as references_worst,  --: cites, where the worst item is asked about; else null
    null::boolean as discounts_worst  --: null: a rubric does not ask
from rubric_judgements
where rubric_sha256 = getvariable('rubric') and model = getvariable('judge') and category is not null
