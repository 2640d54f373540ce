-- One row per mention of a rollout in a critic's answer or thinking, as `audit/references` found them.
with
mentions as (
    select *
    from read_json(
        getvariable('mentions_file'),
        format = 'newline_delimited',
        maximum_object_size = 67108864,
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            part: 'varchar',
            ordinal: 'bigint',
            "start": 'bigint',
            "end": 'bigint',
            "text": 'varchar',
            kind: 'varchar',
            labels: 'varchar[]',
            rollouts: 'bigint[]',
            worst: 'boolean',
            negated: 'boolean',
            discounted: 'boolean'
        }
    )
)

select * from mentions order by condition, env, variant, run, iteration, part, ordinal
