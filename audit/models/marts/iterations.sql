-- One row per finished iteration: what it returned, the best so far, and what that cost.
with
methods as (select condition, env, variant, run, method from run_records),
skipped as (select * from skipped),
episodes as (
    select
        condition, env, variant, run, iteration,
        regexp_replace(file, '/[^/]*$', '') as folder,
        if(selected = 'revised', revised.mean_return, initial.mean_return) as selected_return,
        len(initial.returns) + coalesce(len(revised.returns), 0)
        -- A baseline trains for an episode before each evaluation, and the budget counts it.
        + method.training_rollouts
        -- Of answers that were not taken, and of a test of the one that was.
        + coalesce(answers.rollouts, 0) + coalesce(acceptance.rollouts, 0) as rollouts,
        if(method.first is null, 0, 1) + if(method.second is null, 0, coalesce(answers.asked, 1)) as calls
    from episodes
    join methods using (condition, env, variant, run)
),
logged_returns as (select * from logged_returns),

kept as (
    select
        e.condition, e.env, e.variant, e.run, e.iteration,
        rollouts,
        calls,
        -- A log's own statement has more digits than the outcome files it writes.
        coalesce(logged_return, selected_return) as kept_return,
        true as is_finished
    from episodes as e
    left join logged_returns as l
        on l.condition = e.condition and l.env = e.env and l.variant = e.variant and l.run = e.run
        and l.iteration = e.iteration and coalesce(l.origin, e.folder) = e.folder
),

spent as (
    select * from kept
    union all by name
    -- Asked in vain.
    select condition, env, variant, run, iteration, 0 as rollouts, 1 as calls, null as kept_return, false as is_finished
    from skipped
),

running as (
    select
        condition, env, variant, run, iteration,
        kept_return,
        max(kept_return) over so_far as best_so_far,
        sum(rollouts) over so_far :: bigint as rollouts_spent,
        sum(calls) over so_far :: bigint as calls_spent,
        is_finished
    from spent
    window so_far as (partition by condition, env, variant, run order by iteration rows unbounded preceding)
),

iterations as (select * exclude (is_finished) from running where is_finished)

select * from iterations
