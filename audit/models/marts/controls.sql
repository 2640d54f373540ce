-- One row per condition, task, method and part of the range, and one for all parts with the method's own weights: how often
-- its revisions regress, and how often those of the control do that start from the same part. By `audit/python_models/controls.py`.
with
controls as (
    select *
    from read_json(
        getvariable('controls_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            control: 'varchar',
            start: 'varchar',
            runs: 'bigint',
            revisions: 'bigint',
            regressions: 'bigint',
            regressions_pct: 'double',
            control_runs: 'bigint',
            control_revisions: 'bigint',
            control_regressions: 'bigint',
            control_regressions_pct: 'double',
            difference_pct: 'double',
            difference_pct_low: 'double',
            difference_pct_high: 'double',
            citing: 'bigint',
            citing_regressions: 'bigint',
            citing_regressions_pct: 'double',
            citing_difference_pct: 'double',
            citing_difference_pct_low: 'double',
            citing_difference_pct_high: 'double',
            rough: 'varchar[]'
        }
    )
)

select *
from controls
order by condition, env, variant, list_position(['floor', 'low', 'partial', 'high', 'matched'], start)
