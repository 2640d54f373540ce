-- One row per revision both of whose texts are known.
with
text_runs as (select condition, env, variant, run from run_records where candidates = 'text'),
episodes as (select * from episodes),

revised_texts as (
    select
        condition, env, variant, run, iteration,
        from_json(initial.text, '"MAP(VARCHAR, VARCHAR)"') as before,
        from_json(revised.text, '"MAP(VARCHAR, VARCHAR)"') as after
    from episodes
    semi join text_runs using (condition, env, variant, run)
    where initial.text is not null and revised.text is not null
)

select * from revised_texts
