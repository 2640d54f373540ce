-- One row per line of the record files being read, judged, as it is kept in columns.
with
records as (select * exclude (file, ordinal) from records)
select * from records
