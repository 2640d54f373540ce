-- One row is a condition, task and method that shows three rollouts, by a second opinion on whether citing goes with a
-- regression.
-- key: condition, env, variant
-- cached
-- By the logistic regression of `audit/measures/logistic.py`.
with
tasks as (
    select condition, env, variant, list(citing_by_run order by run) as runs
    from citing_by_run
    group by condition, env, variant
)

select
    condition, env, variant,
    robust_odds_ratio_low,  --: end of the 95% interval of the odds ratio by logistic regression with errors by run
    robust_odds_ratio_high,
    robust_p,  --: of the hypothesis that the odds ratio is 1, by that regression
    holm_p,  --: corrected over the tasks of the condition and method
    family  --: how many tests were corrected together
from (
    select
        condition, variant,
        unnest(
            test_citing(list(tasks order by env))::struct(
                env varchar,
                robust_odds_ratio_low double,
                robust_odds_ratio_high double,
                robust_p double,
                holm_p double,
                family bigint
            )[],
            max_depth := 2
        )
    from tasks
    group by condition, variant
)
order by condition, env, variant
