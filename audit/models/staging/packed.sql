-- One row per record of a pack that is not in columns, by the place of its file, in order: first what the pack holds, in
-- JSON, last files in which something is wrong as they are, line by line. Between them it has those in columns, with the
-- same columns.
with
segments as (select * from segments),

contents as (
    select 0::bigint as place, 0::bigint as number, encode(getvariable('contents')) as line
    where getvariable('contents') <> ''
),

columns as (select null::bigint as number, null::blob as line, * exclude (segment) from segments where false),

raw_lines as (
    select place, number, from_base64(line) as line
    from read_json(
        getvariable('raw_lines'),
        format = 'newline_delimited',
        columns = {place: 'bigint', number: 'bigint', line: 'varchar'}
    )
),

packed as (
    select * from contents
    union all by name
    select * from columns
    union all by name
    select * from raw_lines
)

select * from packed
