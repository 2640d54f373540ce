-- One row per line of the record files of some runs, of all that their segments hold; without what packs carry.
with
record_files as (select segment, place from record_files),

held as (
    select columns(lambda name: not starts_with(name, 'found_'))
    from read_parquet(getvariable('segments'), filename = true, union_by_name = true)
),

run_segments as (
    select held.* rename (filename as segment)
    from held
    join record_files on record_files.segment = filename and record_files.place = held.place
)

select * from run_segments
