-- One row per run, as its run.json or its log folder describes it.
with
run_records as (
    select *
    from read_json(
        getvariable('run_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            source: 'varchar',
            seed: 'hugeint',
            iterations: 'bigint',
            rollouts: 'bigint',
            tau_c: 'double',
            optimum: 'double',
            step_size: 'double',
            backend: 'varchar',
            model: 'varchar',
            thresholds: 'struct(partial double, high double, near_zero double, meaningful double, surgical_max bigint, redesign_min bigint, multi_state_min bigint, floor double, origin varchar)',
            method: 'struct(first varchar, second varchar, evidence varchar, revision_rule boolean, commits varchar, training_rollouts bigint)',
            candidates: 'varchar',
            selection_rule: 'varchar',
            score_range: 'double[]',
            warmup: 'bigint'
        }
    )
)
select * from run_records
