-- One row per revision that changed the return, where parameters are known: the first edit pattern whose rule it meets.
with
revisions as (select * from revisions where direction <> 'no_change' and edit_distance is not null),
thresholds as (select * from thresholds),

judged as (
    select
        revisions.*,
        thresholds.* exclude (condition, env, variant, run),
        abs(r0 - floor) <= near_zero as starts_at_floor
    from revisions
    join thresholds using (condition, env, variant, run)
),

patterns as (
    select
        condition, env, variant, run, iteration,
        direction,
        case direction
            when 'regression' then case
                when edit_distance = 0 then 'pure_stochasticity'
                when r0 > high and delta < -meaningful then 'near_optimal_break'
                when r0 > partial and edit_distance <= surgical_max and delta < -meaningful then 'surgical_backfire'
                when starts_at_floor and edit_distance >= redesign_min then 'full_redesign'
                else 'other_regression'
            end
            when 'improvement' then case
                when r0 > high and edit_distance <= surgical_max and delta > meaningful then 'fine_tune'
                when r0 > partial and edit_distance <= surgical_max and delta > meaningful then 'pinpoint_fix'
                when starts_at_floor and edit_distance >= redesign_min and delta > meaningful then 'history_guided_rescue'
                when r0 - floor > near_zero and edit_distance >= multi_state_min and delta > meaningful then 'targeted_multi_state_fix'
                else 'other_improvement'
            end
        end as pattern
    from judged
)

select * from patterns
