-- One row per record file, among those just read, that has to be read line by line: it holds a line with a defect, an
-- iteration twice, or bytes that are on none of the lines that were read.
with
written as (select place, iteration, bytes, defect from written),
line_files as (select place, bytes from line_files),

repeated as (
    select place
    from written
    where defect is null
    group by place, iteration
    having count(*) > 1
),

unaccounted as (
    select place
    from line_files
    left join (select place, sum(bytes) as read from written group by place) using (place)
    where coalesce(read, 0) <> bytes
),

suspects as (
    select place from written where defect is not null
    union
    select place from repeated
    union
    select place from unaccounted
)

select * from suspects
