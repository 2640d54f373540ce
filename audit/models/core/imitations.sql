-- One row is a program shown beside the one to revise.
-- key: condition, env, variant, run, iteration, place
-- internal
-- cached
-- Computed by `audit/models/functions.py`.
select
    condition, env, variant, run, iteration,
    unnest(
        compare_programs(before, after, texts)::struct(
            place bigint,  --: in the order of display, from 1
            similarity_before double,  --: share of tokens that it has in common with the text before the revision, from
            --: 0 to 1
            similarity_after double  --: with the revised text
        )[],
        max_depth := 2
    )
from imitable_texts
