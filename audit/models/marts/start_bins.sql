-- One row per revision: which part of the task's range its initial candidate starts from, by the thresholds of its run.
with
changes as (select condition, env, variant, run, iteration, r0, direction from changes),
thresholds as (select * from thresholds),

start_bins as (
    select
        condition, env, variant, run, iteration,
        case
            when abs(r0 - floor) <= near_zero then 'floor'
            when r0 <= partial then 'low'
            when r0 <= high then 'partial'
            else 'high'
        end as start,
        r0,
        direction
    from changes
    join thresholds using (condition, env, variant, run)
)

select * from start_bins
