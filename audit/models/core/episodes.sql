-- One row per finished iteration: what every other relation is made of.
with
segments as (select * from segments),
record_files as (select segment, place, label from record_files),

episodes as (
    select
        condition, env, variant, run, iteration,
        initial,
        revised,
        revision_status,
        selected,
        coalesce(evidence.kind, if(variant = 'threetraj', 'three', null)) as evidence_kind,
        evidence.shown as shown,
        evidence.statistics as statistics,
        coalesce(origin, label) as file
    from segments
    join record_files using (segment, place)
)

select * from episodes
