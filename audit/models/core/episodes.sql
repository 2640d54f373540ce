-- One row is a finished iteration with a sound record.
-- key: condition, env, variant, run, iteration
-- A candidate exists where it has a source. A query that reads this field, and not the candidate itself, makes DuckDB
-- read no answers.
with
methods as (
    select condition, env, variant, run, method, if(method.revision_rule, tau_c, null) as fixed_tau_c, score_range
    from run_records
)

select
    condition, env, variant,
    run,  --: from 1
    iteration,  --: from 0
    initial,  --: first candidate
    revised,  --: second candidate, or null
    revision_status,  --: ok, unreadable, none
    selected,  --: what entered the history
    -- Where a record does not state what was shown, the returns tell worst, median and best, and no other choice.
    coalesce(evidence.kind, if(method.evidence = 'three', 'three', null)) as evidence_kind,
    --: three, median, representative: rollouts; batch, pair: scored examples; programs: other candidates; or null
    evidence.shown as shown,  --: the rollouts or other items that the critic was shown, as recorded, in the order of
    --: display
    evidence.statistics as statistics,  --: that the critic was shown, as recorded
    -- An iteration states its threshold where a rule chose it, or where the log has it from the prompt.
    coalesce(tau_c, fixed_tau_c) as tau_c,  --: mean return from which the critic was asked for restraint; null where
    --: there is no such rule, or it is off
    coalesce(initial.mean_return >= coalesce(tau_c, fixed_tau_c), restrained) as restrained,
    --: whether the initial candidate's mean return is at or above tau_c; null where no threshold is known
    score_rounding(initial, revised, score_range) as rounding,  --: scores that differ by no more are equal: 1e-9 of the
    --: range of scores where the run states it, else of the largest absolute score of the two candidates
    coalesce(origin, file) as file,  --: where the record is
    answers,  --: how the revision was chosen among several answers, or null
    acceptance,  --: the test that decided whether the revision is kept, or null
    error  --: why the reflection failed, where a recorder noted it
from records
join methods using (condition, env, variant, run)
