-- One row per revision that a critic answered for: what its main change is chiefly justified by, as the plain rules of
-- `audit/references/driver_rules.py` read its answer.
with
drivers as (
    select *
    from read_json(
        getvariable('drivers_file'),
        format = 'newline_delimited',
        maximum_object_size = 67108864,
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            driver: 'varchar',
            sentence: 'varchar'
        }
    )
)

select * from drivers
