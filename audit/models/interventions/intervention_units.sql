-- One row per prompt that a plan asks again, as `audit/interventions/relations.py` counts its answers.
with
intervention_units as (
    select *
    from read_json(
        getvariable('intervention_units_file'),
        format = 'newline_delimited',
        columns = {
            plan_sha256: 'varchar',
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            backend: 'varchar',
            model: 'varchar',
            prompt_sha256: 'varchar',
            worst_rollout: 'bigint',
            median_rollout: 'bigint',
            best_rollout: 'bigint',
            worst_return: 'double',
            median_return: 'double',
            best_return: 'double',
            number_readable: 'boolean',
            arms: 'bigint',
            planned: 'bigint',
            answered: 'bigint',
            unreadable: 'bigint'
        }
    )
)

select * from intervention_units
