-- One row per record file, among those just read, that holds a line with a defect or an iteration twice.
with
written as (select place, iteration, defect from read_parquet(getvariable('written'))),

repeated as (
    select place
    from written
    where defect is null
    group by place, iteration
    having count(*) > 1
),

suspects as (
    select place, bool_or(is_repeated) as repeats
    from (
        select place, false as is_repeated from written where defect is not null
        union all
        select place, true as is_repeated from repeated
    )
    group by place
)

select * from suspects
