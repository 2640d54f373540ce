-- One row per file of records: what people call it, the run that it belongs to, and where its rows are kept in columns.
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
            source: 'varchar',
            segment: 'varchar',
            place: 'bigint'
        }
    )
)
select * from record_files
