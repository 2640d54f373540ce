-- One row per record of the files that a pack holds in columns, numbered in the order of its file: that of iterations.
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
    select iteration as number, segments.* exclude (segment) replace (pack_place as place)
    from segments
    join files on files.segment = segments.segment and segment_place = place
)

select * from packed_records
