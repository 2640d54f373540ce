-- One row per finished iteration: the source of every other relation.
with
segments as (select * from segments),
record_files as (select segment, place, label from record_files),
methods as (select condition, env, variant, run, method from run_records),

episodes as (
    select
        condition, env, variant, run, iteration,
        initial,
        revised,
        revision_status,
        selected,
        -- A record that does not state what was shown: worst, median and best are known from the returns, no other choice is.
        coalesce(evidence.kind, if(method.evidence = 'three', 'three', null)) as evidence_kind,
        evidence.shown as shown,
        evidence.statistics as statistics,
        coalesce(origin, label) as file
    from segments
    join record_files using (segment, place)
    join methods using (condition, env, variant, run)
)

select * from episodes
