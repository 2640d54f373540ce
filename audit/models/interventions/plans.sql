-- One row is a plan that the store was opened with.
-- key: file
-- internal
select
    unnest(getvariable('plan_files')::varchar[]) as file,  --: its path
    getvariable('plan_cache')::boolean as use_cache  --: whether returns of earlier reports may be used
