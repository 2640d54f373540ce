-- One row per condition, task and method: what its records hold, counted.
with
run_facts as (select * from run_facts),
presets as (select env from presets),
candidates as (
    select condition, env, variant, params, returns, lengths, seeds, ended, text
    from candidates
),

-- Materialized, since DuckDB 2.0 cannot bind the counts where it finds that no row has evidence.
each_iteration as materialized (
    select
        condition, env, variant,
        revised.source is not null as is_revision,
        is_revision and evidence_kind in ('three', 'batch', 'pair') as saw_three,
        revised.source = 'critic' and (
            if(revised.text is null and initial.text is null, revised.answer, rationale(revised.answer, revised.text))
        ) is not null as has_answer,
        if(evidence_kind in ('batch', 'pair'), list_count(list_transform(shown, lambda each: each."return")) > 1, initial.returns is not null)
            as has_returns,
        len(initial.params) > 0 and revised.params is not null as has_params,
        initial.text is not null and revised.text is not null as has_texts,
        (condition, env, variant, run) in (select (condition, env, variant, run) from unscaled_runs) as is_unscaled,
        revised.thinking as thinking,
        error,
        tau_c is not null as has_rule,
        is_revision and evidence_kind in ('three', 'batch', 'pair', 'programs') and len(shown) > 1 and (
            has_answer
            or evidence_kind = 'programs' and has_texts and list_count(list_transform(shown, lambda each: each."text")) > 1
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
),

holdings as (
    select
        condition, env, variant,
        source, backend,
        runs,
        coalesce(iterations, 0) as iterations,
        coalesce(revisions, 0) as revisions,
        coalesce(candidates, 0) as candidates,
        coalesce(returns, 0) as returns,
        coalesce(lengths, 0) as lengths,
        coalesce(seeds, 0) as seeds,
        coalesce(endings, 0) as endings,
        coalesce(parameters, 0) as parameters,
        coalesce(answers, 0) as answers,
        coalesce(thinking, 0) as thinking,
        coalesce(three, 0) as three,
        coalesce(shown, 0) as shown,
        coalesce(statistics, 0) as statistics,
        coalesce(edits, 0) as edits,
        coalesce(structured, 0) as structured,
        coalesce(citing, 0) as citing,
        thresholds,
        env in (select env from presets) as known_task,
        skipped,
        coalesce(ruled, 0) as ruled,
        coalesce(texts, 0) as texts,
        text_runs,
        coalesce(patterned, 0) as patterned,
        coalesce(compared, 0) as compared,
        coalesce(failed, 0) as failed
    from of_runs
    left join of_iterations using (condition, env, variant)
    left join of_candidates using (condition, env, variant)
)

select * from holdings order by condition, env, variant
