-- One row per revision whose prompt shows other candidates with their texts: these, and the text before and after.
with
revised_texts as (select * from revised_texts),
episodes as (
    select
        condition, env, variant, run, iteration,
        list_transform(shown, lambda each: each."text") as texts
    from episodes
    where evidence_kind = 'programs' and list_count(texts) > 1
),

imitable_texts as (
    select
        condition, env, variant, run, iteration,
        before, after,
        texts
    from revised_texts
    join episodes using (condition, env, variant, run, iteration)
)

select * from imitable_texts
