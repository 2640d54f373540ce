-- One row per finding of a user's detector in a critic's answer; none where the detector is not a function.
with
findings as (
    select *
    from read_json(
        getvariable('findings_file'),
        format = 'newline_delimited',
        maximum_object_size = 67108864,
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            ordinal: 'bigint',
            "start": 'bigint',
            "end": 'bigint',
            "text": 'varchar',
            labels: 'varchar[]',
            rollouts: 'bigint[]',
            negated: 'boolean',
            discounted: 'boolean',
            is_span: 'boolean'
        }
    )
)

select * from findings order by condition, env, variant, run, iteration, ordinal
