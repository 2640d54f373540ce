-- One row per task whose thresholds the user changed; null where they left one as it is.
with
overrides as (
    select *
    from read_json(
        getvariable('override_file'),
        format = 'newline_delimited',
        columns = {
            env: 'varchar',
            floor: 'double',
            partial: 'double',
            high: 'double',
            near_zero: 'double',
            meaningful: 'double',
            surgical_max: 'double',
            redesign_min: 'double',
            multi_state_min: 'double'
        }
    )
)
select * from overrides
