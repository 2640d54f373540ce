-- One row per revision, by the returns of both its candidates.
with
episodes as (select * from episodes where revised.source is not null),

revision_returns as (
    select
        condition, env, variant, run, iteration,
        initial.returns as before,
        revised.returns as after,
        coalesce(initial.seeds = revised.seeds, false) as same_seeds,
        coalesce(initial.example_ids = revised.example_ids, false) as same_examples
    from episodes
)

select * from revision_returns
