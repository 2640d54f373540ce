-- One row per finished iteration: what it returned, the best so far, and what that cost.
with
methods as (select condition, env, variant, run, method.training_rollouts as training_rollouts from run_records),
episodes as (
    select
        condition, env, variant, run, iteration,
        regexp_replace(file, '/[^/]*$', '') as folder,
        if(selected = 'revised', revised.mean_return, initial.mean_return) as selected_return,
        len(initial.returns) + coalesce(len(revised.returns), 0)
        -- A baseline trains for an episode before each evaluation, and the budget counts it.
        + training_rollouts as rollouts
    from episodes
    join methods using (condition, env, variant, run)
),
logged_returns as (select * from logged_returns),

kept as (
    select
        e.condition, e.env, e.variant, e.run, e.iteration,
        rollouts,
        -- A log's own statement has more digits than the outcome files it writes.
        coalesce(logged_return, selected_return) as kept_return
    from episodes as e
    left join logged_returns as l
        on l.condition = e.condition and l.env = e.env and l.variant = e.variant and l.run = e.run
        and l.iteration = e.iteration and coalesce(l.origin, e.folder) = e.folder
),

iterations as (
    select
        condition, env, variant, run, iteration,
        kept_return,
        max(kept_return) over so_far as best_so_far,
        sum(rollouts) over so_far :: bigint as rollouts_spent
    from kept
    window so_far as (partition by condition, env, variant, run order by iteration rows unbounded preceding)
)

select * from iterations
