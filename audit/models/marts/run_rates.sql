-- One row per run: its returns, and how often its revisions regress and its critic's answers refer to the worst rollout.
-- A run is the unit of tests between methods, since its revisions depend on each other.
with
runs as (select * from runs),
changes as (select condition, env, variant, run, iteration, direction from changes),
"references" as (select condition, env, variant, run, iteration, cites from "references"),

counted as (
    select
        condition, env, variant, run,
        count(*) as revisions,
        count(*) filter (where direction = 'regression') as regressions,
        count(cites) as answers,
        count(*) filter (where cites) as citing
    from changes
    left join "references" using (condition, env, variant, run, iteration)
    group by all
),

run_rates as (
    select
        condition, env, variant, run,
        mean_return,
        best_return,
        coalesce(revisions, 0) as revisions,
        100 * regressions / nullif(revisions, 0) as regressions_pct,
        100 * citing / nullif(answers, 0) as citing_pct
    from runs
    left join counted using (condition, env, variant, run)
)

select * from run_rates order by condition, env, variant, run
