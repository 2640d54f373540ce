-- One row per condition, task, method, outcome and factor: what is cited or imitated of the items shown, by their place and
-- their score. By `audit/python_models/positions.py`.
with
positions as (
    select *
    from read_json(
        getvariable('positions_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            outcome: 'varchar',
            aspect: 'varchar',
            factor: 'varchar',
            runs: 'bigint',
            revisions: 'bigint',
            items: 'bigint',
            mean_with: 'double',
            mean_without: 'double',
            effect: 'double',
            effect_low: 'double',
            effect_high: 'double',
            p: 'double',
            holm_p: 'double',
            family: 'bigint',
            place_score_gamma: 'double',
            rough: 'varchar[]'
        }
    )
)

select *
from positions
order by
    condition, env, variant, outcome,
    list_position(['place', 'score', 'place or score'], aspect),
    list_position(['first', 'last', 'later', 'worst', 'best', 'higher', 'above parent'], factor)
