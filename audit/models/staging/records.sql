-- One row per line of a record file, with what is wrong with it: `defect` is null for a sound one.
-- A record's types are checked before (`lines`); here its fields are compared with each other and with its run.
with
lines as (select * from lines),
line_files as (select place, condition, env, variant, run, precision_of_mean from line_files join sources using (source)),
run_records as (select condition, env, variant, run, rollouts from run_records),

placed as (
    select
        lines.*,
        run_records.rollouts,
        (lines.condition, lines.env, lines.variant, lines.run)
            is distinct from (line_files.condition, line_files.env, line_files.variant, line_files.run)
            as strays,
        precision_of_mean
    from lines
    join line_files using (place)
    join run_records
        on run_records.condition = line_files.condition
        and run_records.env = line_files.env
        and run_records.variant = line_files.variant
        and run_records.run = line_files.run
),

searched as (
    select
        *,
        coalesce(
            fault('initial', initial, rollouts, precision_of_mean),
            fault('revised', revised, rollouts, precision_of_mean)
        ) as fault
    from placed
),

records as (
    select
        file, ordinal, place, bytes,
        condition, env, variant, run, iteration,
        initial, revised, revision_status, selected, evidence, seconds, error, tau_c, restrained, answers, acceptance, origin,
        case
            when not is_plain or has_repeated_key(initial.text) or has_repeated_key(revised.text) then 'unread'
            when strays then 'belongs to another run (condition ' || condition || ', env ' || env || ', variant ' || variant
                || ', run ' || run || ') than the run.json beside it states'
            when fault is not null then fault
            when len(initial.params) <> len(revised.params)
                then 'initial has ' || len(initial.params) || ' params and revised ' || len(revised.params)
            when selected = 'revised' and revised is null then 'selected is revised, and there is no revised candidate'
            when (revision_status = 'ok') <> (revised is not null)
                then 'revision_status is ' || revision_status || ', which does not fit the revised candidate'
            when list_max(list_transform(evidence.shown, lambda each: each.rollout))
                >= coalesce(len(initial.returns), rollouts)
                then 'evidence.shown holds a rollout beyond the ' || coalesce(len(initial.returns), rollouts) || ' of initial'
        end as defect
    from searched
)

select * from records
