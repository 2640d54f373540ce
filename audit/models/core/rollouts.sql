-- One row per rollout of a candidate.
with
candidates as (select * from candidates),

rollouts as (
    select
        condition, env, variant, run, iteration, role,
        unnest(range(len(returns))) as rollout,
        unnest(returns) as "return",
        unnest(lengths) as length,
        unnest(seeds) as seed,
        unnest(ended) as ended
    from candidates
)

select * from rollouts
