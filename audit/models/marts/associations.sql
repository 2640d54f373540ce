-- One row per condition, task and method that shows three rollouts: does citing the worst one go with a regression?
-- The ratios and their intervals are those of `audit/measures/association.py`, the gap and the other intervals those of
-- `audit/measures/cluster_robust.py`.
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
            odds_ratio_high: 'double',
            gap: 'double',
            gap_low: 'double',
            gap_high: 'double',
            strict_low: 'double',
            strict_high: 'double',
            permissive_low: 'double',
            permissive_high: 'double',
            citing_regressions_pct_low: 'double',
            citing_regressions_pct_high: 'double',
            citing_improvements_pct_low: 'double',
            citing_improvements_pct_high: 'double',
            citing_no_change_pct_low: 'double',
            citing_no_change_pct_high: 'double',
            rough: 'varchar[]'
        }
    )
)

select * from associations
