-- One row is a run of texts with scores outside 0 to 1 that does not state their range, so that its edits have no
-- patterns.
-- key: condition, env, variant, run
with
scores as (
    select
        condition, env, variant, run,
        unnest(list_concat([initial.mean_return, revised.mean_return], initial.returns, revised.returns)) as score
    from episodes
    semi join (from run_records where candidates = 'text' and score_range is null)
        using (condition, env, variant, run)
)

select
    condition, env, variant, run,
    min(score) as lowest,  --: score
    max(score) as highest  --: score
from scores
group by all
having not (lowest >= 0 and highest <= 1)
