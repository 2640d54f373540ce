-- One row per record file whose rows, as its segment has them, do not follow each other by iteration.
with
placed as (
    select filename as segment, place, iteration, file_row_number
    from read_parquet(getvariable('segments'), filename = true, file_row_number = true, union_by_name = true)
),

followed as (
    select
        segment, place,
        iteration <= lag(iteration) over (partition by segment, place order by file_row_number) as is_back
    from placed
),

unordered_files as (select distinct segment, place from followed where is_back)

select * from unordered_files
