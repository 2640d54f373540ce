-- One row per known task: its policy kind and the thresholds for logs that carry none.
with
presets as (
    select *
    from read_json(
        getvariable('preset_file'),
        format = 'newline_delimited',
        columns = {
            env: 'varchar',
            origin: 'varchar',
            policy: 'varchar',
            parameters: 'bigint',
            floor: 'double',
            partial: 'double',
            high: 'double',
            near_zero: 'double',
            meaningful: 'double',
            surgical_max: 'bigint',
            redesign_min: 'bigint',
            multi_state_min: 'bigint'
        }
    )
)
select * from presets
