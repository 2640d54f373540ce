-- One row per condition, task and method that shows three rollouts: does citing the worst one go with a regression?
-- The ratios and their intervals are those of `audit/measures/association.py`.
with
associations as (
    select *
    from read_json(
        getvariable('associations_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            runs: 'bigint',
            risk_ratio: 'double',
            risk_ratio_low: 'double',
            risk_ratio_high: 'double',
            odds_ratio: 'double',
            odds_ratio_low: 'double',
            odds_ratio_high: 'double'
        }
    )
)

select * from associations
