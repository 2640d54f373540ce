-- One row per condition, task and method that shows three rollouts: a second opinion on whether citing the worst one goes
-- with a regression, by the logistic regression of `audit/measures/logistic.py`.
with
association_tests as (
    select *
    from read_json(
        getvariable('association_tests_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            robust_odds_ratio_low: 'double',
            robust_odds_ratio_high: 'double',
            robust_p: 'double',
            holm_p: 'double',
            family: 'bigint'
        }
    )
)

select * from association_tests
