-- One row is a revision that a critic answered for, with what a coder reads.
-- key: condition, env, variant, run, iteration
-- internal
-- The outcome is left out.
with
-- Other columns of episodes have the names of columns of critic_answers.
episodes as (select condition, env, variant, run, iteration, initial, revised from episodes)

select
    condition, env, variant, run, iteration,
    answer,  --: the critic's
    shown,  --: the rollouts that the critic was shown, as recorded
    "statistics",  --: that the critic was shown, as recorded
    returns,  --: of the initial candidate's rollouts
    lengths,  --: of the same
    rounding,
    worst_rollout,  --: index
    median_rollout,  --: index
    best_rollout,  --: index
    initial.params as "before",  --: parameters of the initial candidate
    revised.params as "after",  --: parameters of the revised candidate
    changed,  --: indices of the parameters that changed
    evidence_kind,  --: what was shown
    initial.text as before_text,  --: components as JSON; null for parameters
    revised.text as after_text  --: likewise
from critic_answers
join changes using (condition, env, variant, run, iteration)
left join evidence using (condition, env, variant, run, iteration)
join episodes using (condition, env, variant, run, iteration)
