-- One row is a revision, with all that the viewer's table shows, filters and counts.
-- key: condition, env, variant, run, iteration
-- internal
--: condition: the setting under which runs were made: model, options
--: run: number of the run, from 1
--: iteration: number of the iteration, from 0
--: direction: regression, improvement, no_change
--: components: components of both texts together
with
-- Other columns of salience_criteria have the names of columns of references and evidence.
salience_criteria as (select condition, env, variant, run, iteration, strict, permissive from salience_criteria),

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
)

select
    changes.* exclude (evidence_kind, paired, tau_c, restrained),
    p_no_change,  --: chance of so low a change of the return, or a lower one, had the revision changed nothing
    pattern,  --: the edit pattern: the first whose rule holds; unknown where the return did not change
    changed_components,  --: components of the text that changed
    text_edits.* exclude (condition, env, variant, run, iteration, changed_components),
    worst, median, best,
    severity,  --: (median - worst) / (best - worst); null where best = worst, and of two
    structure,
    worst_below_median,  --: whether the worst return is below the median one, by more than rounding
    worst_below_best,  --: whether the worst return is below the best one, by more than rounding
    severity_degree(severity) as degree,  --: severity in six steps
    cites,  --: whether the answer refers to what is asked about, as the detector finds; unknown where no critic
    --: answered
    about,  --: what is asked about: worst, or as --about has it
    references_worst,
    strict,  --: salience problem: a regression whose worst rollout is below the median one, and whose answer cites it;
    --: unknown where another item is asked about
    permissive,  --: salience problem: a regression whose worst rollout is below the best one, and whose answer cites
    --: it; unknown where another item is asked about
    criteria.condition is not null as in_salience,  --: whether the salience table counts it
    start,  --: part of the task's range that the initial candidate starts from: floor, low, partial, high
    tau_c, restrained, evidence_kind,
    judged,  --: drivers that judges named, or null
    answer_bytes,  --: length of the critic's answer
    thinking_bytes,  --: length of its thinking, or null
    worst_rollout,
    median_rollout,  --: index of the return closest to the sample median; null of two
    best_rollout,
    worst_place,  --: place at which the worst rollout was shown, from 1
    median_place,  --: place at which the median rollout was shown, from 1
    best_place,  --: place at which the best rollout was shown, from 1
    worst_name,  --: heading under which the worst rollout was shown
    median_name,  --: heading under which the median rollout was shown
    best_name,  --: heading under which the best rollout was shown
    chance_pooled, chance_initial, file
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
order by condition, env, variant, run, iteration
