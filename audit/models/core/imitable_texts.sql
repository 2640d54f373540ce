-- One row is a revision of a text whose prompt shows other candidates with their texts.
-- key: condition, env, variant, run, iteration
-- internal
with
episodes as (
    select
        condition, env, variant, run, iteration,
        list_transform(shown, lambda each: each."text") as texts
    from episodes
    where evidence_kind = 'programs' and list_count(texts) > 1
)

select
    condition, env, variant, run, iteration,
    before,  --: the text by component
    after,  --: the revised text by component
    texts  --: the items as shown, in the order of display
from revised_texts
join episodes using (condition, env, variant, run, iteration)
