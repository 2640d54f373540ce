-- One row per file whose lines are read: its place among them, and the run that it belongs to.
with
line_files as (
    select *
    from read_json(
        getvariable('line_file_list'),
        format = 'newline_delimited',
        columns = {
            file: 'varchar',
            place: 'bigint',
            bytes: 'bigint',
            is_accepted: 'boolean',
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            source: 'varchar'
        }
    )
    -- All of them. DuckDB takes any file of JSON for 42 rows; with a condition it expects fewer files than lines, so that
    -- joins hold the files in memory and not the lines.
    where place >= 1
)
select * from line_files
