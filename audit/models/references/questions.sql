-- One row is a revision whose critic gave an answer in words, by what a judge is shown of it.
-- key: condition, env, variant, run, iteration
-- internal
-- The outcome is left out.
with
policies as (
    select
        condition, env, variant, run, iteration,
        initial.params as before, revised.params as after,
        initial.text as before_text, revised.text as after_text
    from episodes
    where revised.source is not null
),

located as (
    select
        *,
        shown_rollout('worst', worst_rollout, worst, lengths) as lowest,
        shown_rollout('median', median_rollout, median, lengths) as middle,
        shown_rollout('best', best_rollout, best, lengths) as highest
    from critic_answers
    join changes using (condition, env, variant, run, iteration)
    left join evidence using (condition, env, variant, run, iteration)
    join policies using (condition, env, variant, run, iteration)
    -- Other programs are shown with a score each: what is worst among them is not asked.
    where (worst is not null or evidence_kind = 'programs') and regexp_matches(answer, '\S')
)

select
    condition, env, variant, run, iteration,
    answer,
    sha256(answer) as answer_sha256,  --: of its UTF-8 bytes
    -- Where a log does not state which rollouts were shown, the kind of evidence implies them.
    case
        when len(shown) > 0 then shown
        when evidence_kind = 'three' then [lowest, middle, highest]
        when evidence_kind = 'median' then [middle]
        else []
    end as shown,  --: the rollouts that the critic was shown, as recorded; else those that its kind of evidence selects
    statistics,
    list_transform(
        changed,
        lambda index: {'index': index, 'before': before[index + 1], 'after': after[index + 1]}
    ) as changes,  --: index, value before and value after of each changed parameter
    evidence_kind,  --: what was shown
    before_text,  --: components as JSON; null for parameters
    after_text  --: likewise
from located
order by condition, env, variant, run, iteration
