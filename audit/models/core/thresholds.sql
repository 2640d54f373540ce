-- One row per run: the thresholds that its edit patterns are judged by.
-- What the user set goes before what the run carries, and that before the preset of its task.
with
run_records as (select * from run_records),
presets as (select * from presets),
overrides as (select * from overrides),

thresholds as (
    select
        r.condition, r.env, r.variant, r.run,
        coalesce(p.policy, if(r.step_size is null, 'tabular', 'linear')) as policy,
        coalesce(o.floor, r.thresholds.floor, p.floor) as floor,
        coalesce(o.partial, r.thresholds.partial, p.partial) as partial,
        coalesce(o.high, r.thresholds.high, p.high) as high,
        coalesce(o.near_zero, r.thresholds.near_zero, p.near_zero) as near_zero,
        coalesce(o.meaningful, r.thresholds.meaningful, p.meaningful) as meaningful,
        coalesce(o.surgical_max, r.thresholds.surgical_max, p.surgical_max) as surgical_max,
        coalesce(o.redesign_min, r.thresholds.redesign_min, p.redesign_min) as redesign_min,
        coalesce(o.multi_state_min, r.thresholds.multi_state_min, p.multi_state_min) as multi_state_min,
        if(o.env is not null, 'user', coalesce(r.thresholds.origin, p.origin)) as origin
    from run_records as r
    left join presets as p on p.env = r.env
    left join overrides as o on o.env = r.env
)

select * from thresholds
