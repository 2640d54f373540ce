-- One row is an answer to a plan of `audit intervene`; none without `plan`.
-- key: plan_sha256, condition, env, variant, run, iteration, arm, replicate
-- cached
-- Read by `audit/interventions/relations.py`.
select
    unnest(
        answers_to_plans(list(plans))::struct(
            plan_sha256 varchar,  --: SHA-256 of the plan
            condition varchar,
            env varchar,
            variant varchar,
            run bigint,
            iteration bigint,
            arm varchar,  --: how the prompt was changed, as `audit intervene plan` lists them
            replicate bigint,  --: number of the answer among those of its unit and arm, from 0
            call bigint,  --: place among all calls of the plan, from 0
            shown varchar,  --: the rollouts in the order of display, by true role: worst, median, best; other for the
            --: recorded rollout that takes one's place
            worst_place bigint,  --: place at which the worst rollout was shown, from 1; null where it was not
            worst_label varchar,  --: role that the heading of the worst rollout stated; null without labels
            worst_number varchar,  --: rollout whose return was printed with the worst one, by true role; null where
            --: returns were hidden
            median_place bigint,  --: place at which the median rollout was shown, from 1; null where it was not
            median_label varchar,  --: role that the heading of the median rollout stated; null without labels
            median_number varchar,  --: rollout whose return was printed with the median one, by true role; null where
            --: returns were hidden
            best_place bigint,  --: place at which the best rollout was shown, from 1; null where it was not
            best_label varchar,  --: role that the heading of the best rollout stated; null without labels
            best_number varchar,  --: rollout whose return was printed with the best one, by true role; null where
            --: returns were hidden
            readable boolean,  --: whether a parameter vector could be read
            driver varchar,  --: true role of the rollout that the change is chiefly justified by; null where it is no
            --: single rollout
            mentions_worst boolean,  --: whether the answer speaks of the worst rollout
            names_worst boolean,  --: whether the answer names the worst rollout in a sentence that gives a reason
            says_worst boolean,  --: whether the word is in it
            changed bigint,  --: number of parameters that changed; 0 for an unreadable answer
            edit_size double,  --: sum of absolute changes in units of the search step, or for tables the number of
            --: changed entries; 0 for an unreadable answer
            gain double,  --: return of the revised policy minus that of the policy under review, on the same fresh
            --: seeds; null where policies are not run
            harmful boolean,  --: whether the gain is below minus two standard errors; null where policies are not run
            words bigint,  --: of the answer
            prompt_tokens bigint,  --: as the backend counts them, or null
            prompt_characters bigint,  --: length of the prompt
            prompt_sha256 varchar,  --: of the prompt
            answer varchar  --: its text
        )[],
        max_depth := 2
    )
from plans
