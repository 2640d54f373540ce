-- One row is a condition, task, method, an outcome of the items shown, and a factor that it may depend on.
-- key: condition, env, variant, outcome, factor
-- cached
-- Computed by `audit/models/positions.py`.
with
outcomes as (
    select
        condition, env, variant,
        unnest(['cited', 'gain']) as outcome,
        unnest([cited::double, gain]) as value,
        [run, iteration, place, score, parent_score, similarity_before]::double[] as columns
    from shown_items
),

tested as (
    select
        condition, env, variant,
        outcome,  --: cited: whether the answer mentions the item; gain: how far the text moves towards it
        unnest(
            test_positions(outcome, list(list_append(columns, value)))::struct(
                aspect varchar,  --: place, score, or place or score: where items are sorted by score in every prompt
                factor varchar,  --: first, last, worst, best, above parent: items that are against those of the same
                --: prompt that are not; later, higher: rank in the display or by score, from 0 to 1
                runs bigint,  --: that inform the effect
                revisions bigint,  --: whose items differ in the factor
                items bigint,  --: in their prompts
                mean_with double,  --: mean outcome of items that have the factor; null of ranks
                mean_without double,  --: mean outcome of the other items of these prompts; null of ranks
                effect double,  --: difference between items of one prompt; of place adjusted for the rank by score and
                --: of score for the rank in the display, unless sorted; of gain also for similarity_before; null where
                --: nothing is left
                effect_low double,  --: end of the 95% interval, with errors by run (CR2); null of one run
                effect_high double,
                p double,  --: of no effect, by permutations within prompts
                holm_p double,  --: corrected for the tests of the same condition, task, method and outcome
                family bigint,  --: how many tests were corrected together
                place_score_gamma double,  --: how far items are sorted by score: of the pairs of a prompt with
                --: different scores, those whose later item is higher less those whose later is lower, over their
                --: number; 1 or -1 where always sorted
                rough varchar[]  --: columns whose interval fewer than five runs inform, too few to rely on it
            )[],
            max_depth := 2
        )
    from outcomes
    where value is not null
    group by condition, env, variant, outcome
)

select * from tested
order by
    condition, env, variant, outcome,
    list_position(['place', 'score', 'place or score'], aspect),
    list_position(['first', 'last', 'later', 'worst', 'best', 'higher', 'above parent'], factor)
