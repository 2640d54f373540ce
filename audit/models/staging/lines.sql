-- One row per line of a record file. Only a line in the form in which records are written is taken apart: its fields are null
-- where DuckDB and the strict record types might understand it differently (`audit/sources/grammar.py`). It is not plain either
-- where an answer may hold thinking, which only a line that is read by its type has taken out.
-- The ordinal costs parallelism, and is computed only by a query that asks for it.
with
line_files as (select file, place, source, is_accepted, form from line_files join sources using (source)),

texts as (
    select
        filename as file,
        row_number() over () as ordinal,
        json as line
    from read_ndjson_objects(getvariable('line_files'), ignore_errors = true, filename = true)
),

matched as (
    select
        file, ordinal, place, source, is_accepted,
        line,
        strlen(line::varchar) + 1 as bytes,
        bytes <= getvariable('longest_line') and coalesce(
            case
                when is_accepted then true
                when form = 'Episode' then regexp_full_match(line::varchar, getvariable('episode_line'))
                when form = 'TextEpisode' then regexp_full_match(line::varchar, getvariable('text_line'))
                when form = 'Iteration' then regexp_full_match(line::varchar, getvariable('iteration_line'))
                else regexp_full_match(line::varchar, getvariable('translated_line'))
            end,
            false
        ) as is_plain
    from texts
    join line_files using (file)
),

read as (
    select * exclude (line), if(is_plain, from_json(line, getvariable('line_structure')), null) as record
    from matched
),

lines as (
    select
        file, ordinal, place, source,
        is_plain and (is_accepted or not (may_think(record.initial) or may_think(record.revised))) as is_plain,
        bytes,
        unnest(record)
    from read
)

select * from lines
