-- One row is a run with a finished iteration, by returns and rates that methods can be compared by.
-- key: condition, env, variant, run
-- cached
-- A run is the unit of tests between methods, since its revisions depend on each other.
with
counted as (
    select
        condition, env, variant, run,
        count(*) as revisions,
        count(*) filter (where direction = 'regression') as regressions,
        count(cites) as answers,
        count(*) filter (where cites) as citing
    from changes
    left join "references" using (condition, env, variant, run, iteration)
    group by all
)

select
    condition, env, variant, run,
    mean_return,
    best_return,
    coalesce(revisions, 0) as revisions,  --: their number
    100 * regressions / nullif(revisions, 0) as regressions_pct,  --: of revisions; null where there are none
    100 * citing / nullif(answers, 0) as citing_pct  --: answers that refer to the worst rollout, of the critic's; null
    --: where no critic answered
from runs
left join counted using (condition, env, variant, run)
order by condition, env, variant, run
