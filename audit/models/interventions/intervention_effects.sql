-- One row is an effect that a finished plan was tested for; none without `plan`, an error while calls have no answer.
-- key: plan_sha256, name, outcome, arm, control, env
-- cached
-- Computed by `audit/interventions/report.py`.
select
    unnest(
        effects_of_plans(list(plans))::struct(
            plan_sha256 varchar,  --: SHA-256 of the plan
            backend varchar,  --: that answered
            model varchar,  --: that answered
            name varchar,  --: the factor: label, position, number, presence and so on
            outcome varchar,  --: share; edits; text; text, numbers hidden; direction; size; gain; harmful
            arm varchar,  --: that is tested
            control varchar,  --: arm that it is compared with; null where the factor is drawn within the arm
            env varchar,  --: task, for effects in units of its returns; null for those over all tasks
            estimate double,  --: in units of the outcome; for shares of revisions that follow it, above the mean of the
            --: other two levels of its kind; for edits the energy distance, in units of the distance between two
            --: answers to one prompt
            low double,  --: end of the 95% interval, by errors clustered by run
            high double,  --: the other end
            p double,  --: of the hypothesis of no effect
            p_adjusted double,  --: by Holm's method within the primary family and within harm, by Benjamini and
            --: Hochberg's among the other planned tests
            beyond_placebo_p double,  --: of the hypothesis that rewording the prompt does as much
            beyond_redrawn_p double,  --: of the hypothesis that other rollouts of the same policy do as much
            bounded_p double,  --: p with sizes of edits and bounded distances, so that a few far edits do not decide
            detectable double,  --: null; until 1.0
            "primary" boolean,  --: whether it is in the plan's family
            planned boolean,  --: whether all its arms are in the plan
            units bigint,  --: with answers of both arms
            runs bigint,  --: of these
            answers bigint,  --: of these
            verdict varchar,  --: of a share: moves it, moves it away, goes with another, does not move it, cannot be
            --: told, not asked, described; of a test: found, not beyond placebo, not found, not tested
            method varchar,  --: of the test
            sentence varchar  --: the effect in words
        )[],
        max_depth := 2
    )
from plans
