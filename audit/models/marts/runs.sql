-- One row per run with a finished iteration: mean, best and final return over its iterations.
with
iterations as (select * from iterations),

runs as (
    select
        condition, env, variant, run,
        count(*) as iterations,
        -- In order, since a sum of binary fractions depends on it.
        avg(kept_return order by iteration) as mean_return,
        max(kept_return) as best_return,
        arg_max(kept_return, iteration) as final_return
    from iterations
    group by all
)

select * from runs order by condition, env, variant, run
