-- The same of files that have been read already, each in the order of iterations.
with
segments as (select * from segments),
files as (
    select segment, segment_place, place as pack_place
    from read_json(
        getvariable('packed_files'),
        format = 'newline_delimited',
        columns = {segment: 'varchar', segment_place: 'bigint', place: 'bigint'}
    )
),

packed_records as (
    select segments.* exclude (segment) replace (pack_place as place)
    from segments
    join files on files.segment = segments.segment and segment_place = place
    order by pack_place, iteration
)

select * from packed_records
