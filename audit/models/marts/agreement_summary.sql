-- One row per condition, task, method and agreement structure that occurs, where the critic saw three rollouts or a batch of items.
with
changes as (select * from changes where evidence_kind in ('three', 'batch')),
evidence as (select * from evidence where structure is not null),

agreement_summary as (
    select
        condition, env, variant, structure,
        count(*) as revisions,
        -- In order, since a sum of binary fractions depends on it.
        avg(delta order by run, iteration) as mean_delta
    from changes
    join evidence using (condition, env, variant, run, iteration)
    group by all
)

select * from agreement_summary order by condition, env, variant, structure
