-- One row is a revision both of whose texts are known.
-- key: condition, env, variant, run, iteration
-- internal
select
    condition, env, variant, run, iteration,
    from_json(initial.text, '"MAP(VARCHAR, VARCHAR)"') as before,  --: component → text, of the initial candidate
    from_json(revised.text, '"MAP(VARCHAR, VARCHAR)"') as after  --: of the revised candidate
from episodes
semi join (from run_records where candidates = 'text') using (condition, env, variant, run)
where initial.text is not null and revised.text is not null
