-- One row per finished iteration: the source of every other relation. A candidate that is there has a source: who asks for this
-- field and not for the candidate itself has DuckDB read no answers.
with
segments as (select * from segments),
record_files as (select segment, place, label from record_files),
methods as (
    select condition, env, variant, run, method, if(method.revision_rule, tau_c, null) as fixed_tau_c, score_range
    from run_records
),

episodes as (
    select
        condition, env, variant, run, iteration,
        initial,
        revised,
        revision_status,
        selected,
        -- A record that does not state what was shown: worst, median and best are known from the returns, no other choice is.
        coalesce(evidence.kind, if(method.evidence = 'three', 'three', null)) as evidence_kind,
        evidence.shown as shown,
        evidence.statistics as statistics,
        -- An iteration states its threshold where a rule chose it, or where the log has it from the prompt.
        coalesce(tau_c, fixed_tau_c) as tau_c,
        coalesce(initial.mean_return >= coalesce(tau_c, fixed_tau_c), restrained) as restrained,
        score_rounding(initial, revised, score_range) as rounding,
        coalesce(origin, label) as file,
        answers,
        acceptance,
        error
    from segments
    join record_files using (segment, place)
    join methods using (condition, env, variant, run)
)

select * from episodes
