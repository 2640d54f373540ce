-- One row per revision whose prompt shows other candidates with their texts: these, and the text before and after.
with
text_runs as (select condition, env, variant, run from run_records where candidates = 'text'),
episodes as (select * from episodes where evidence_kind = 'programs'),

imitable_texts as (
    select
        condition, env, variant, run, iteration,
        from_json(initial.text, '"MAP(VARCHAR, VARCHAR)"') as before,
        from_json(revised.text, '"MAP(VARCHAR, VARCHAR)"') as after,
        list_transform(shown, lambda each: each."text") as texts
    from episodes
    semi join text_runs using (condition, env, variant, run)
    where initial.text is not null and revised.text is not null and list_count(texts) > 1
)

select * from imitable_texts
