-- One row per line of a record file, judged, as it is kept in columns; `segment` and `place` identify its file.
with
segments as (
    select * rename (filename as segment)
    from read_parquet(getvariable('segments'), filename = true, union_by_name = true)
)
select * from segments
