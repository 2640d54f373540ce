-- One row per revision whose critic gave an answer in words: all that a judge is shown, which excludes the outcome.
with
critic_answers as (select * from critic_answers where regexp_matches(answer, '\S')),
changes as (select condition, env, variant, run, iteration, evidence_kind, changed from changes),
evidence as (select * from evidence),
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
        {'label': 'worst', 'rollout': worst_rollout, 'return': worst, 'length': lengths[worst_rollout + 1], 'name': null} as lowest,
        {'label': 'median', 'rollout': median_rollout, 'return': median, 'length': lengths[median_rollout + 1], 'name': null} as middle,
        {'label': 'best', 'rollout': best_rollout, 'return': best, 'length': lengths[best_rollout + 1], 'name': null} as highest
    from critic_answers
    join changes using (condition, env, variant, run, iteration)
    left join evidence using (condition, env, variant, run, iteration)
    join policies using (condition, env, variant, run, iteration)
    -- Other programs are shown with a score each: what is worst among them is not asked.
    where worst is not null or evidence_kind = 'programs'
),

questions as (
    select
        condition, env, variant, run, iteration,
        answer,
        sha256(answer) as answer_sha256,
        -- Where a log does not state which rollouts were shown, the kind of evidence implies them.
        case
            when len(shown) > 0 then shown
            when evidence_kind = 'three' then [lowest, middle, highest]
            when evidence_kind = 'median' then [middle]
            else []
        end as shown,
        statistics,
        list_transform(
            changed,
            lambda index: {'index': index, 'before': before[index + 1], 'after': after[index + 1]}
        ) as changes,
        evidence_kind,
        before_text,
        after_text
    from located
)

select * from questions order by condition, env, variant, run, iteration
