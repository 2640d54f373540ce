-- One row per plan that the store was opened with.
with
plans as (
    select
        unnest(getvariable('plan_files')::varchar[]) as file,
        getvariable('plan_cache')::boolean as use_cache
)

select * from plans
