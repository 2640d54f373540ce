-- One row per file of records: what people call it, and the run that it belongs to.
with
record_files as (
    select *
    from read_json(
        getvariable('record_file_list'),
        format = 'newline_delimited',
        columns = {
            file: 'varchar',
            label: 'varchar',
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            source: 'varchar'
        }
    )
)
select * from record_files
