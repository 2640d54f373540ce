-- One row per run of which several record files hold the same iteration.
with
segments as (select segment, place, iteration from segments),
record_files as (select segment, place, condition, env, variant, run from record_files),

repeated as (
    select condition, env, variant, run, iteration
    from segments
    join record_files using (segment, place)
    group by all
    having count(*) > 1
),

overlapping as (select distinct condition, env, variant, run from repeated)

select * from overlapping
