-- One row is a finished iteration, by what it returned.
-- key: condition, env, variant, run, iteration
-- cached
with
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
    join run_records using (condition, env, variant, run)
),

spent as (
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
    union all by name
    -- Asked in vain.
    select condition, env, variant, run, iteration, 0 as rollouts, 1 as calls, null as kept_return, false as is_finished
    from skipped
)

select
    condition, env, variant, run, iteration,
    kept_return,  --: mean return of the selected candidate
    max(kept_return) over so_far as best_so_far,  --: largest kept return of the run up to here
    sum(rollouts) over so_far :: bigint as rollouts_spent,  --: rollouts of the run up to here, warm-up aside; those of
    --: remedies included, of a baseline also the training episode before each evaluation
    sum(calls) over so_far :: bigint as calls_spent  --: calls of the run up to here, answers asked for again aside
from spent
window so_far as (partition by condition, env, variant, run order by iteration rows unbounded preceding)
qualify is_finished
