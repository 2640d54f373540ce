-- One row is a prompt that a plan asks again; none without `plan`.
-- key: plan_sha256, condition, env, variant, run, iteration
-- cached
-- Counted by `audit/interventions/relations.py`.
select
    unnest(
        units_of_plans(list(plans))::struct(
            plan_sha256 varchar,  --: SHA-256 of the plan
            condition varchar,
            env varchar,
            variant varchar,
            run bigint,
            iteration bigint,
            backend varchar,  --: that answered
            model varchar,  --: that answered
            prompt_sha256 varchar,  --: of the prompt
            worst_rollout bigint,  --: number of the worst rollout shown
            median_rollout bigint,  --: number of the median rollout shown
            best_rollout bigint,  --: number of the best rollout shown
            worst_return double,  --: of the worst rollout shown
            median_return double,  --: of the median rollout shown
            best_return double,  --: of the best rollout shown
            number_readable boolean,  --: whether returns can be read off the rollouts themselves
            arms bigint,  --: number of arms with an answer
            planned bigint,  --: calls of the plan
            answered bigint,  --: those with an answer
            unreadable bigint  --: answers without a parameter vector
        )[],
        max_depth := 2
    )
from plans
