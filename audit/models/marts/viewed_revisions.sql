-- One row per revision, with all that the viewer's table shows, filters and counts.
with
changes as (select * from changes),
evidence as (select * from evidence),
"references" as (select condition, env, variant, run, iteration, about, cites, references_worst from "references"),
salience_criteria as (select condition, env, variant, run, iteration, strict, permissive from salience_criteria),
patterns as (select condition, env, variant, run, iteration, pattern from patterns),
text_edits as (select * from text_edits),
noise as (select * from noise),
start_bins as (select condition, env, variant, run, iteration, start from start_bins),
answers as (
    select
        condition, env, variant, run, iteration,
        file,
        strlen(revised.answer) as answer_bytes,
        strlen(revised.thinking) as thinking_bytes
    from episodes
    where revised.source is not null
),
by_judges as (
    select condition, env, variant, run, iteration, string_agg(distinct driver, ' ' order by driver) as judged
    from judgements
    group by all
),

viewed_revisions as (
    select
        changes.* exclude (evidence_kind, paired, tau_c, restrained),
        p_no_change, pattern,
        changed_components, text_edits.* exclude (condition, env, variant, run, iteration, changed_components),
        worst, median, best, severity, structure, worst_below_median, worst_below_best,
        severity_degree(severity) as degree,
        cites, about, references_worst, strict, permissive,
        criteria.condition is not null as in_salience,
        start, tau_c, restrained, evidence_kind, judged,
        answer_bytes, thinking_bytes,
        worst_rollout, median_rollout, best_rollout, worst_place, median_place, best_place, worst_name, median_name,
        best_name, chance_pooled, chance_initial, file
    from changes
    left join evidence using (condition, env, variant, run, iteration)
    left join "references" using (condition, env, variant, run, iteration)
    left join salience_criteria as criteria using (condition, env, variant, run, iteration)
    left join patterns using (condition, env, variant, run, iteration)
    left join text_edits using (condition, env, variant, run, iteration)
    left join noise using (condition, env, variant, run, iteration)
    left join start_bins using (condition, env, variant, run, iteration)
    left join answers using (condition, env, variant, run, iteration)
    left join by_judges using (condition, env, variant, run, iteration)
)

select * from viewed_revisions order by condition, env, variant, run, iteration
