-- The same of files that have been read already, each in the order of iterations.
with
read as (
    select * rename (filename as segment)
    from read_parquet(getvariable('packed_segments'), filename = true, union_by_name = true)
),

files as (
    select segment, segment_place, place as pack_place
    from read_json(
        getvariable('packed_files'),
        format = 'newline_delimited',
        columns = {segment: 'varchar', segment_place: 'bigint', place: 'bigint'}
    )
),

packed_records as (
    select read.* exclude (segment) replace (pack_place as place)
    from read
    join files on files.segment = read.segment and segment_place = place
    order by pack_place, iteration
)

select * from packed_records
