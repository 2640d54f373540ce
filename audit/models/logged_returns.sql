-- One row per iteration return that a foreign log states on its own, beside the rollouts.
with
logged_returns as (
    select *
    from read_json(
        getvariable('logged_return_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            logged_return: 'double'
        }
    )
)
select
    condition, env, variant, run, iteration,
    last(logged_return) as logged_return
from logged_returns
group by all
