-- One row is a revision, by what no change at all would have done; null where the candidates have different numbers of
-- rollouts.
-- key: condition, env, variant, run, iteration
-- cached
-- Computed by `audit/measures/permutation.py`.
with
-- All revisions at once would fill the memory.
numbered as (select *, row_number() over () // 5000 as batch from revision_returns),
batches as (select list(numbered) as revisions from numbered group by batch),

tested as (
    select
        unnest(revisions, max_depth := 2),
        unnest(
            test_no_change(
                [each.before for each in revisions],
                [each.after for each in revisions],
                [each.same_examples for each in revisions]
            )::struct(p_no_change double, chance_pooled double, chance_initial double)[],
            max_depth := 2
        )
    from batches
)

select
    condition, env, variant, run, iteration,
    p_no_change,  --: chance of so low a delta, or a lower one, when both candidates' returns are pooled and split at
    --: random
    chance_pooled,  --: chance of any regression in such a split
    -- On the same seeds an unchanged policy does the same again; a model on the same examples need not.
    if(same_seeds and p_no_change is not null, 0, chance_initial) as chance_initial  --: chance of a regression when the
    --: initial candidate is run twice, its returns taken as all it can do
from tested
