-- One row per run whose scores leave 0 to 1 where the run does not state how far they reach: its edits have no patterns.
with
unstated as (
    select condition, env, variant, run from run_records
    where candidates = 'text' and score_range is null
),
episodes as (select * from episodes),

scores as (
    select
        condition, env, variant, run,
        unnest(list_concat([initial.mean_return, revised.mean_return], initial.returns, revised.returns)) as score
    from episodes
    semi join unstated using (condition, env, variant, run)
),

unscaled_runs as (
    select condition, env, variant, run, min(score) as lowest, max(score) as highest
    from scores
    group by all
    having not (lowest >= 0 and highest <= 1)
)

select * from unscaled_runs
