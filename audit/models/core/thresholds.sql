-- One row per run: the thresholds that its edit patterns are judged by.
-- The user's settings override what the run carries, which overrides the preset of its task.
with
run_records as (select * from run_records),
presets as (select * from presets),
overrides as (select * from overrides),

thresholds as (
    select
        r.condition, r.env, r.variant, r.run,
        coalesce(p.policy, if(r.step_size is null, 'tabular', 'linear')) as policy,
        unnest(first_thresholds(o, r.thresholds, p)),
        if(o.env is not null, 'user', coalesce(r.thresholds.origin, p.origin)) as origin
    from run_records as r
    left join presets as p on p.env = r.env
    left join overrides as o on o.env = r.env
)

select * from thresholds
