-- One row per answer to a plan, as `audit/interventions/relations.py` reads it.
with
interventions as (
    select *
    from read_json(
        getvariable('interventions_file'),
        format = 'newline_delimited',
        maximum_object_size = 67108864,
        columns = {
            plan_sha256: 'varchar',
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            arm: 'varchar',
            replicate: 'bigint',
            call: 'bigint',
            shown: 'varchar',
            worst_place: 'bigint',
            worst_label: 'varchar',
            worst_number: 'varchar',
            median_place: 'bigint',
            median_label: 'varchar',
            median_number: 'varchar',
            best_place: 'bigint',
            best_label: 'varchar',
            best_number: 'varchar',
            readable: 'boolean',
            driver: 'varchar',
            mentions_worst: 'boolean',
            names_worst: 'boolean',
            says_worst: 'boolean',
            changed: 'bigint',
            edit_size: 'double',
            gain: 'double',
            harmful: 'boolean',
            words: 'bigint',
            prompt_tokens: 'bigint',
            prompt_characters: 'bigint',
            prompt_sha256: 'varchar',
            answer: 'varchar'
        }
    )
)

select * from interventions
