-- One row per iteration return that a foreign log states on its own, beside the rollouts. `origin` is the folder
-- of the run: copies of a run may disagree, and a log is about the iterations beside it.
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
            origin: 'varchar',
            logged_return: 'double'
        }
    )
)
select
    condition, env, variant, run, iteration, origin,
    last(logged_return) as logged_return
from logged_returns
group by all
