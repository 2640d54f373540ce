-- One row per line of a record file, with what is wrong with it: `defect` is null for a sound one.
with
lines as (select * from lines),
record_files as (select * from record_files),
run_records as (select * from run_records),

placed as (
    select
        lines.*,
        record_files.label,
        record_files.source,
        run_records.rollouts,
        (lines.condition, lines.env, lines.variant, lines.run)
            is distinct from (record_files.condition, record_files.env, record_files.variant, record_files.run)
            as strays,
        -- The released code writes mean returns with four decimals.
        case when record_files.source = 'native' then 1e-9 else 5.1e-5 end as precision_of_mean,
        [
            {role: 'initial', candidate: initial},
            {role: 'revised', candidate: revised}
        ] as proposals
    from lines
    join record_files using (file)
    join run_records
        on run_records.condition = record_files.condition
        and run_records.env = record_files.env
        and run_records.variant = record_files.variant
        and run_records.run = record_files.run
),

searched as (
    select
        *,
        list_filter(
            [
                if(condition is null, 'condition', null),
                if(env is null, 'env', null),
                if(variant is null, 'variant', null),
                if(run is null, 'run', null),
                if(iteration is null, 'iteration', null),
                if(initial is null, 'initial', null),
                if(revision_status is null, 'revision_status', null),
                if(selected is null, 'selected', null),
                if(seconds is null and source = 'native', 'seconds', null)
            ],
            lambda name: name is not null
        ) as missing,
        list_filter(
            list_transform(proposals, lambda p: case
                when p.candidate is null then null
                when p.candidate.params is null then p.role || '.params is missing or no list of numbers'
                when p.candidate.returns is null then p.role || '.returns is missing or no list of numbers'
                when p.candidate.lengths is null then p.role || '.lengths is missing or no list of whole numbers'
                when p.candidate.mean_return is null then p.role || '.mean_return is missing or not a number'
                when p.candidate.source is null then p.role || '.source is missing'
                when p.candidate.out_of_range is null then p.role || '.out_of_range is missing'
                when p.candidate.answer is null then p.role || '.answer is missing'
                when p.candidate.ended is null and source = 'native' then p.role || '.ended is missing'
                when p.candidate.source not in ('search', 'critic', 'baseline')
                    then p.role || '.source is neither search nor critic nor baseline'
                when len(p.candidate.params) = 0 and p.candidate.source <> 'baseline' then p.role || '.params is empty'
                when len(p.candidate.returns) = 0 then p.role || '.returns is empty'
                when len(list_filter(p.candidate.params, lambda x: x is null or not isfinite(x))) > 0
                    then p.role || '.params holds something that is not a finite number'
                when len(list_filter(p.candidate.returns, lambda x: x is null or not isfinite(x))) > 0
                    then p.role || '.returns holds something that is not a finite number'
                when len(p.candidate.lengths) <> len(p.candidate.returns)
                    then p.role || ' has ' || len(p.candidate.returns) || ' returns and ' || len(p.candidate.lengths) || ' lengths'
                when len(p.candidate.seeds) <> len(p.candidate.returns)
                    then p.role || ' has ' || len(p.candidate.returns) || ' returns and ' || len(p.candidate.seeds) || ' seeds'
                when len(p.candidate.ended) <> len(p.candidate.returns)
                    then p.role || ' has ' || len(p.candidate.returns) || ' returns and ' || len(p.candidate.ended) || ' endings'
                when len(p.candidate.returns) <> rollouts
                    then p.role || ' has ' || len(p.candidate.returns) || ' returns where the run has ' || rollouts || ' rollouts'
                when not abs(p.candidate.mean_return - list_avg(p.candidate.returns))
                    <= precision_of_mean * greatest(1, abs(p.candidate.mean_return))
                    then p.role || '.mean_return is ' || p.candidate.mean_return || ' where its returns have mean ' || list_avg(p.candidate.returns)
            end),
            lambda fault: fault is not null
        ) as faults
    from placed
),

records as (
    select
        * exclude (proposals, strays, missing, faults, rollouts, precision_of_mean),
        case
            when len(missing) >= 8 then 'not a record'
            when len(missing) > 0 then array_to_string(missing, ', ') || ' missing, or not of the type it should be'
            when strays then 'belongs to another run (' || condition || ', ' || env || ', ' || variant || ', ' || run || ')'
                || ' than the run.json beside it says'
            when run < 1 or iteration < 0 then 'run counts from 1 and iteration from 0'
            when len(faults) > 0 then faults[1]
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

select * from records
