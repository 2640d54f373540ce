-- One row is a revision: an iteration with an initial and a revised candidate.
-- key: condition, env, variant, run, iteration
-- cached
with
-- Other columns of salience_criteria have the names of columns of references.
salience_criteria as (select condition, env, variant, run, iteration, strict, permissive from salience_criteria)

select
    changes.* exclude (evidence_kind, paired, tau_c, restrained),
    worst, median, best, severity, structure,
    references_worst,  --: null where no critic answered, or another item is asked about
    strict,  --: null where the critic did not see three rollouts, or another item is asked about
    permissive,  --: likewise
    pattern,  --: null where the return did not change
    tau_c, restrained,
    about,  --: what is asked about; null where no critic answered
    cites,  --: whether the answer refers to it; likewise
    changed_components,  --: null where candidates are no texts, as are the rest
    text_edits.* exclude (condition, env, variant, run, iteration, changed_components)
from changes
left join evidence using (condition, env, variant, run, iteration)
left join "references" using (condition, env, variant, run, iteration)
left join salience_criteria using (condition, env, variant, run, iteration)
left join patterns using (condition, env, variant, run, iteration)
left join text_edits using (condition, env, variant, run, iteration)
order by condition, env, variant, run, iteration
