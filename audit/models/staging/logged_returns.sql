-- One row is an iteration's return as a foreign log states it.
-- key: condition, env, variant, run, iteration, origin
-- internal
-- Copies of a run may disagree, and a log is about the iterations beside it.
select
    condition, env, variant, run, iteration,
    origin,  --: the run's folder
    last(logged_return) as logged_return
from read_parquet(getvariable('logged_returns'))
group by all
