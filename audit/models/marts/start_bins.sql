-- One row is a revision, by the part of the task's range that it starts from.
-- key: condition, env, variant, run, iteration
-- cached
select
    condition, env, variant, run, iteration,
    case
        when abs(r0 - floor) <= near_zero then 'floor'
        when r0 <= partial then 'low'
        when r0 <= high then 'partial'
        else 'high'
    end as start,  --: floor (within near_zero of it), low (up to partial), partial (up to high), high
    r0,
    direction  --: regression, improvement, no_change
from changes
join thresholds using (condition, env, variant, run)
