-- One row per revision that a critic answered for: what a coder reads, which excludes the outcome.
with
critic_answers as (select * from critic_answers),
changes as (select condition, env, variant, run, iteration, evidence_kind, changed from changes),
evidence as (select condition, env, variant, run, iteration, worst_rollout, median_rollout, best_rollout from evidence),
episodes as (select condition, env, variant, run, iteration, initial, revised from episodes),

answers_to_code as (
    select
        condition, env, variant, run, iteration,
        answer,
        shown, "statistics", returns, lengths, rounding,
        worst_rollout, median_rollout, best_rollout,
        initial.params as "before",
        revised.params as "after",
        changed,
        evidence_kind,
        initial.text as before_text,
        revised.text as after_text
    from critic_answers
    join changes using (condition, env, variant, run, iteration)
    left join evidence using (condition, env, variant, run, iteration)
    join episodes using (condition, env, variant, run, iteration)
)

select * from answers_to_code
