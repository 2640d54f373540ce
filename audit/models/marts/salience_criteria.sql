-- One row is a revision whose critic saw the worst, the median and the best rollout.
-- key: condition, env, variant, run, iteration
-- cached
-- Or it saw a batch or a pair of scored items. An answer in a language that the detector does not read is in no rate.
select
    condition, env, variant, run, iteration,
    detector,
    direction,
    direction = 'regression' and evidence.worst_below_median as worst_below_median,  --: of a regression
    direction = 'regression' and evidence.worst_below_best as worst_below_best,  --: of a regression
    references_worst,
    -- Null where another item than the worst is asked about.
    if(references_worst is null, null, direction = 'regression' and worst_below_median and references_worst) as strict,
    --: regression, worst < median, reference; null where another item than the worst is asked about
    if(references_worst is null, null, direction = 'regression' and worst_below_best and references_worst)
        as permissive,
    --: regression, worst < best, reference; likewise
    about,  --: what is asked about
    cites  --: whether the answer refers to it
from changes
join evidence using (condition, env, variant, run, iteration)
join "references" using (condition, env, variant, run, iteration)
where evidence_kind in ('three', 'batch', 'pair') and cites is not null
