-- One row per revision, an iteration with an initial and a revised candidate, with all that the other relations know of it.
with
changes as (select * from changes),
evidence as (select * from evidence),
"references" as (select * from "references"),
salience_criteria as (select condition, env, variant, run, iteration, strict, permissive from salience_criteria),
patterns as (select condition, env, variant, run, iteration, pattern from patterns),
text_edits as (select * from text_edits),

revisions as (
    select
        changes.* exclude (evidence_kind, paired, tau_c, restrained),
        worst, median, best, severity, structure,
        references_worst, strict, permissive,
        pattern,
        tau_c, restrained,
        about, cites,
        changed_components, text_edits.* exclude (condition, env, variant, run, iteration, changed_components)
    from changes
    left join evidence using (condition, env, variant, run, iteration)
    left join "references" using (condition, env, variant, run, iteration)
    left join salience_criteria using (condition, env, variant, run, iteration)
    left join patterns using (condition, env, variant, run, iteration)
    left join text_edits using (condition, env, variant, run, iteration)
)

select * from revisions order by condition, env, variant, run, iteration
