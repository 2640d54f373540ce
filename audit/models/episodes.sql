-- One row per finished iteration whose record is sound: what every other relation is made of.
with
records as (select * from records),

episodes as (
    select
        condition, env, variant, run, iteration,
        initial,
        if(revised is null, null, revised) as revised,
        revision_status,
        selected,
        coalesce(evidence.kind, if(variant = 'threetraj', 'three', null)) as evidence_kind,
        evidence.shown as shown,
        coalesce(origin, label) as file
    from records
    where defect is null
)

select * from episodes
