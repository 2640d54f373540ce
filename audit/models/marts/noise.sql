-- One row per revision: what no change at all would have done, as `audit/measures/permutation.py` finds it.
with
noise as (
    select *
    from read_json(
        getvariable('noise_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            p_no_change: 'double',
            chance_pooled: 'double',
            chance_initial: 'double'
        }
    )
)

select * from noise
