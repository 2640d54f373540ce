-- One row per effect that a finished plan was tested for, as `audit/interventions/report.py` has it.
with
intervention_effects as (
    select *
    from read_json(
        getvariable('intervention_effects_file'),
        format = 'newline_delimited',
        columns = {
            plan_sha256: 'varchar',
            backend: 'varchar',
            model: 'varchar',
            name: 'varchar',
            outcome: 'varchar',
            arm: 'varchar',
            control: 'varchar',
            env: 'varchar',
            estimate: 'double',
            low: 'double',
            high: 'double',
            p: 'double',
            p_adjusted: 'double',
            beyond_placebo_p: 'double',
            beyond_redrawn_p: 'double',
            bounded_p: 'double',
            detectable: 'double',
            "primary": 'boolean',
            planned: 'boolean',
            units: 'bigint',
            runs: 'bigint',
            answers: 'bigint',
            verdict: 'varchar',
            method: 'varchar',
            sentence: 'varchar'
        }
    )
)

select * from intervention_effects
