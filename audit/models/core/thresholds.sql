-- One row per run: the thresholds that its edit patterns are judged by, where those that count parameters are whole numbers.
with
edit_thresholds as (select * from edit_thresholds),

thresholds as (
    select
        * replace (
            if(policy = 'text', null, surgical_max)::bigint as surgical_max,
            if(policy = 'text', null, redesign_min)::bigint as redesign_min,
            if(policy = 'text', null, multi_state_min)::bigint as multi_state_min
        )
    from edit_thresholds
)

select * from thresholds
