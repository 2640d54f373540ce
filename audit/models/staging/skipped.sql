-- One row per iteration that proposed nothing, since no answer of its search could be read.
with
skipped as (
    select *
    from read_json(
        getvariable('skipped_file'),
        format = 'newline_delimited',
        columns = {condition: 'varchar', env: 'varchar', variant: 'varchar', run: 'bigint', iteration: 'bigint'}
    )
)
select * from skipped
