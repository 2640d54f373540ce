-- One row is a revision whose answer the chosen model has judged.
-- key: condition, env, variant, run, iteration
-- Answers that the model has not judged, or not readably, have no row, so that all rates are of those judged.
select
    condition, env, variant, run, iteration,
    'judge' as detector,  --: judge
    getvariable('about') as about,
    driver = about as cites,  --: whether the answer refers to it, as the detector finds
    if(about = 'worst', cites, null) as references_worst,  --: whether the driver is the worst rollout; null where
    --: something else is asked about
    if(about = 'worst', discounts_worst, null) as discounts_worst
from judgements
where model = getvariable('judge') and driver is not null
