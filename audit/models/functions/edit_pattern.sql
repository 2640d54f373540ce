-- The edit pattern of a revision: the first rule that holds; null where the return did not change. The thresholds come
-- last, so that whoever asks can move one.
create macro edit_pattern(
    r0, delta, edit_distance,
    floor, partial, high, near_zero, meaningful, surgical_max, redesign_min, multi_state_min
) as
case
    when delta < 0 then case
        when edit_distance = 0 then 'pure_stochasticity'
        when r0 > high and delta < -meaningful then 'near_optimal_break'
        when r0 > partial and edit_distance <= surgical_max and delta < -meaningful then 'surgical_backfire'
        when abs(r0 - floor) <= near_zero and edit_distance >= redesign_min then 'full_redesign'
        else 'other_regression'
    end
    when delta > 0 then case
        when r0 > high and edit_distance <= surgical_max and delta > meaningful then 'fine_tune'
        when r0 > partial and edit_distance <= surgical_max and delta > meaningful then 'pinpoint_fix'
        when abs(r0 - floor) <= near_zero and edit_distance >= redesign_min and delta > meaningful then 'history_guided_rescue'
        when r0 - floor > near_zero and edit_distance >= multi_state_min and delta > meaningful then 'targeted_multi_state_fix'
        else 'other_improvement'
    end
end
