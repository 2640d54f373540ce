-- One row per run, begun or finished: how it was set up and how far it came. Null where a foreign log does not state it.
with
run_records as (select * from run_records),
thresholds as (select * from thresholds),
finished as (select condition, env, variant, run, iterations from runs),
skipped as (select condition, env, variant, run, count(*) as iterations from skipped group by all),

run_facts as (
    select
        r.condition, r.env, r.variant, r.run,
        r.source,
        r.backend,
        r.model,
        r.seed,
        r.rollouts,
        r.iterations as iterations_planned,
        coalesce(finished.iterations, 0) as iterations_finished,
        r.tau_c,
        r.optimum,
        thresholds.policy,
        thresholds.floor,
        thresholds.origin as thresholds_origin,
        coalesce(skipped.iterations, 0) as iterations_skipped,
        r.candidates,
        r.warmup
    from run_records as r
    join thresholds
        on thresholds.condition = r.condition and thresholds.env = r.env
        and thresholds.variant = r.variant and thresholds.run = r.run
    left join finished
        on finished.condition = r.condition and finished.env = r.env
        and finished.variant = r.variant and finished.run = r.run
    left join skipped
        on skipped.condition = r.condition and skipped.env = r.env
        and skipped.variant = r.variant and skipped.run = r.run
)

select * from run_facts order by condition, env, variant, run
