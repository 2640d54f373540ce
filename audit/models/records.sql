-- One row per line of a record file, with what is wrong with it: `defect` is null for a sound one.
with
lines as (select * from lines),
line_files as (select * from line_files),
run_records as (select * from run_records),

placed as (
    select
        lines.*,
        line_files.place,
        line_files.source = 'native' as is_native,
        run_records.rollouts,
        (lines.condition, lines.env, lines.variant, lines.run)
            is distinct from (line_files.condition, line_files.env, line_files.variant, line_files.run)
            as strays,
        -- The released code writes mean returns with four decimals.
        case when line_files.source = 'r2po_release' then 5.1e-5 else 1e-9 end as precision_of_mean
    from lines
    join line_files using (file)
    join run_records
        on run_records.condition = line_files.condition
        and run_records.env = line_files.env
        and run_records.variant = line_files.variant
        and run_records.run = line_files.run
),

searched as (
    select
        *,
        concat_ws(', ',
            if(condition is null, 'condition', null),
            if(env is null, 'env', null),
            if(variant is null, 'variant', null),
            if(run is null, 'run', null),
            if(iteration is null, 'iteration', null),
            if(initial is null, 'initial', null),
            if(revision_status is null, 'revision_status', null),
            if(selected is null, 'selected', null),
            if(seconds is null and is_native, 'seconds', null)
        ) as missing,
        coalesce(
            fault('initial', initial, is_native, rollouts, precision_of_mean),
            fault('revised', revised, is_native, rollouts, precision_of_mean)
        ) as fault
    from placed
),

records as (
    select
        file, ordinal, place,
        condition, env, variant, run, iteration,
        initial, revised, revision_status, selected, evidence, seconds, origin,
        case
            when missing = '' then null
            when len(string_split(missing, ', ')) >= 8 then 'not a record'
            else missing || ' missing, or not of the type it should be'
        end as lack,
        case
            when lack is not null then lack
            when strays then 'belongs to another run (' || condition || ', ' || env || ', ' || variant || ', ' || run || ')'
                || ' than the run.json beside it says'
            when run < 1 or iteration < 0 then 'run counts from 1 and iteration from 0'
            when fault is not null then fault
            when len(initial.params) <> len(revised.params)
                then 'initial has ' || len(initial.params) || ' params and revised ' || len(revised.params)
            when selected not in ('initial', 'revised') then 'selected is neither initial nor revised'
            when revision_status not in ('ok', 'unreadable', 'none') then 'revision_status is none of ok, unreadable, none'
            when selected = 'revised' and revised is null then 'selected is revised, and there is no revised candidate'
            when (revision_status = 'ok') <> (revised is not null)
                then 'revision_status is ' || revision_status || ', which does not fit the revised candidate'
        end as defect
    from searched
)

select * exclude (lack) from records
