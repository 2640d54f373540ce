-- One row is a condition, task and method, by what its records hold.
-- key: condition, env, variant
-- internal
-- cached
with
-- Materialized, since DuckDB 2.0 cannot bind the counts where it finds that no row has evidence.
each_iteration as materialized (
    select
        condition, env, variant,
        revised.source is not null as is_revision,
        is_revision and evidence_kind in ('three', 'batch', 'pair') as saw_three,
        revised.source = 'critic' and (
            if(revised.text is null and initial.text is null, revised.answer, rationale(revised.answer, revised.text))
        ) is not null as has_answer,
        if(
            evidence_kind in ('batch', 'pair'),
            list_count(list_transform(shown, lambda each: each."return")) > 1,
            initial.returns is not null
        ) as has_returns,
        len(initial.params) > 0 and revised.params is not null as has_params,
        initial.text is not null and revised.text is not null as has_texts,
        (condition, env, variant, run) in (select (condition, env, variant, run) from unscaled_runs) as is_unscaled,
        revised.thinking as thinking,
        error,
        tau_c is not null as has_rule,
        is_revision and evidence_kind in ('three', 'batch', 'pair', 'programs') and len(shown) > 1 and (
            has_answer
            or evidence_kind = 'programs' and has_texts
            and list_count(list_transform(shown, lambda each: each."text")) > 1
        ) as has_items,
        shown,
        statistics
    from episodes
),

of_runs as (
    select
        condition, env, variant,
        string_agg(distinct source, ' ' order by source) as source,
        string_agg(distinct backend, ' ' order by backend) as backend,
        string_agg(distinct thresholds_origin, ' ' order by thresholds_origin) as thresholds,
        count(*) as runs,
        sum(iterations_skipped)::bigint as skipped,
        count(*) filter (where policy = 'text') as text_runs
    from run_facts
    group by all
),

of_iterations as (
    select
        condition, env, variant,
        count(*) as iterations,
        count(*) filter (where is_revision) as revisions,
        count(error) as failed,
        count(*) filter (where has_answer) as answers,
        count(*) filter (where is_revision and thinking <> '') as thinking,
        count(*) filter (where saw_three) as three,
        count(*) filter (where is_revision and len(shown) > 0) as shown,
        count(*) filter (where is_revision and statistics is not null) as statistics,
        count(*) filter (where is_revision and (has_params or has_texts)) as edits,
        count(*) filter (where is_revision and (has_params or has_texts and not is_unscaled)) as patterned,
        count(*) filter (where is_revision and has_params and has_rule) as ruled,
        count(*) filter (where saw_three and has_returns) as structured,
        count(*) filter (where saw_three and has_returns and has_answer) as citing,
        count(*) filter (where has_items) as compared
    from each_iteration
    group by all
),

of_candidates as (
    select
        condition, env, variant,
        count(*) as candidates,
        count(returns) as returns,
        count(lengths) as lengths,
        count(seeds) as seeds,
        count(ended) as endings,
        count(*) filter (where len(params) > 0) as parameters,
        count(text) as texts
    from candidates
    group by all
)

select
    condition, env, variant,
    source,  --: native, imported or r2po_release
    backend,  --: or null
    runs,
    coalesce(iterations, 0) as iterations,  --: finished
    coalesce(revisions, 0) as revisions,
    coalesce(candidates, 0) as candidates,
    coalesce(returns, 0) as returns,  --: candidates with a return per rollout
    coalesce(lengths, 0) as lengths,  --: candidates with them
    coalesce(seeds, 0) as seeds,  --: candidates with them
    coalesce(endings, 0) as endings,  --: candidates with them
    coalesce(parameters, 0) as parameters,  --: candidates with them
    coalesce(answers, 0) as answers,  --: revisions with a critic's answer
    coalesce(thinking, 0) as thinking,  --: revisions with it
    coalesce(three, 0) as three,  --: revisions whose critic saw three rollouts
    coalesce(shown, 0) as shown,  --: revisions that name the rollouts shown
    coalesce(statistics, 0) as statistics,  --: revisions that record those shown
    coalesce(edits, 0) as edits,  --: revisions with both parameter vectors
    coalesce(structured, 0) as structured,  --: such of three that have returns
    coalesce(citing, 0) as citing,  --: such of these that have an answer
    thresholds,  --: origin of the edit patterns' thresholds
    env in (select env from presets) as known_task,  --: whether the task is one of the ten
    skipped,  --: iterations that proposed nothing
    coalesce(ruled, 0) as ruled,  --: such of edits whose critic was given a threshold
    coalesce(texts, 0) as texts,  --: candidates with a text
    text_runs,  --: runs whose candidates are texts
    coalesce(patterned, 0) as patterned,  --: revisions whose edit has a size that patterns can be judged by
    coalesce(compared, 0) as compared,  --: revisions whose prompt shows several items of which it is known what is
    --: cited or imitated
    coalesce(failed, 0) as failed  --: iterations whose reflection failed, as a recorder noted
from of_runs
left join of_iterations using (condition, env, variant)
left join of_candidates using (condition, env, variant)
order by condition, env, variant
