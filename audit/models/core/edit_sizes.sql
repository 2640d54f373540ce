-- One row per revision whose edit has a pattern: how large the edit is, in changed parameters, or as a share of the text.
with
changes as (select * from changes where direction <> 'no_change'),
text_edits as (select condition, env, variant, run, iteration, edit_ratio from text_edits),
unscaled_runs as (select * from unscaled_runs),

edit_sizes as (
    select
        condition, env, variant, run, iteration,
        r0, delta, direction,
        coalesce(edit_distance, edit_ratio) as edit_size
    from changes
    left join text_edits using (condition, env, variant, run, iteration)
    anti join unscaled_runs using (condition, env, variant, run)
    where edit_size is not null
)

select * from edit_sizes
