-- One row per file of records that holds a line with a defect, or an iteration that stands somewhere else too.
with
checked as materialized (
    select file, defect, condition, env, variant, run, iteration from records
),

repeated as (
    select condition, env, variant, run, iteration
    from checked
    where defect is null
    group by all
    having count(*) > 1
),

suspects as (
    select file from checked where defect is not null
    union
    select file from checked semi join repeated using (condition, env, variant, run, iteration)
)

select * from suspects
