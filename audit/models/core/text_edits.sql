-- One row is a revision both of whose texts are known, by how far it moved them.
-- key: condition, env, variant, run, iteration
-- cached
-- Computed by `audit/measures/text_edits.py`.
select
    condition, env, variant, run, iteration,
    unnest(
        compare_texts(before, after)::struct(
            components bigint,  --: of both texts together
            changed_components bigint,  --: how many of them differ
            edit_ratio double,  --: Levenshtein distance over the longer length, in characters, sums over the changed
            --: components; null where two of them are too long to compare, which is stated in docs/optimizers.md
            token_change double,  --: share of words and punctuation marks of the changed components that one text has
            --: and the other has not
            length_ratio double  --: length after over length before, in characters, of the changed components; null
            --: where there was nothing before
        )[],
        max_depth := 2
    )
from revised_texts
