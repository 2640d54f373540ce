-- One row per finished iteration: what every other relation is made of.
-- The files that `lines` reads have been checked, so only a line that a run in progress is writing now can be torn.
with
lines as (select * from lines where iteration is not null and initial.mean_return is not null),
record_files as (select file, label from record_files),

episodes as (
    select
        condition, env, variant, run, iteration,
        initial,
        revised,
        revision_status,
        selected,
        coalesce(evidence.kind, if(variant = 'threetraj', 'three', null)) as evidence_kind,
        evidence.shown as shown,
        coalesce(origin, label) as file
    from lines
    join record_files using (file)
)

select * from episodes
