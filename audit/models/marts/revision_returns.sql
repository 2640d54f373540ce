-- One row per revision, by the returns of both its candidates.
with
episodes as (select * from episodes where revised is not null),

revision_returns as (
    select
        condition, env, variant, run, iteration,
        initial.returns as before,
        revised.returns as after,
        coalesce(initial.seeds = revised.seeds, false) as same_seeds
    from episodes
)

select * from revision_returns
