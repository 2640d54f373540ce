-- One row is a run, begun or finished.
-- key: condition, env, variant, run
-- cached
-- A column is null where a foreign log does not state it.
with
skipped as (select condition, env, variant, run, count(*) as iterations from skipped group by all)

select
    condition, env, variant, run,
    r.source,  --: native, imported or r2po_release
    r.backend,
    r.model,
    r.seed,
    r.rollouts,
    r.iterations as iterations_planned,  --: or null
    coalesce(runs.iterations, 0) as iterations_finished,  --: with a sound record
    r.tau_c,
    r.optimum,
    thresholds.policy,  --: linear or tabular
    thresholds.floor,
    thresholds.origin as thresholds_origin,  --: of its edit patterns: authors, project, user, or what run.json says
    coalesce(skipped.iterations, 0) as iterations_skipped,  --: that proposed nothing
    r.candidates,
    r.warmup
from run_records as r
join thresholds using (condition, env, variant, run)
left join runs using (condition, env, variant, run)
left join skipped using (condition, env, variant, run)
order by condition, env, variant, run
