-- One row per run with a finished iteration: mean, best and final return over its iterations.
with
iterations as (select * from iterations),
skipped as (
    select condition, env, variant, run, count(*) as skipped
    from skipped
    group by all
),

runs as (
    select
        condition, env, variant, run,
        count(*) as iterations,
        -- In order, since a sum of binary fractions depends on it.
        avg(kept_return order by iteration) as mean_return,
        max(kept_return) as best_return,
        arg_max(kept_return, iteration) as final_return,
        coalesce(any_value(skipped), 0) as skipped
    from iterations
    left join skipped using (condition, env, variant, run)
    group by condition, env, variant, run
)

select * from runs order by condition, env, variant, run
