with
steps as (
    select *, lag(best_so_far) over (partition by condition, env, variant, run order by iteration) as before
    from iterations
)
select * from steps where best_so_far < before or best_so_far < kept_return
