-- One row per line of the record files just read, judged, as they are in the segment that was written.
with
written as (from read_parquet(getvariable('written')))
select * from written
