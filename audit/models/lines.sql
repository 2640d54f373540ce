-- One row per line of a record file, as it is written; nothing is judged yet.
-- A line that is no JSON object comes out as nulls, and so does a value that does not fit its type.
-- The ordinal costs parallelism, and is computed only by a query that asks for it.
with
lines as (
    select
        filename as file,
        row_number() over () as ordinal,
        * exclude (filename)
    from read_json(
        getvariable('line_files'),
        format = 'newline_delimited',
        ignore_errors = true,
        filename = true,
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            initial: 'struct(params double[], out_of_range boolean, source varchar, answer varchar, thinking varchar, returns double[], lengths bigint[], seeds ubigint[], ended varchar[], mean_return double)',
            revised: 'struct(params double[], out_of_range boolean, source varchar, answer varchar, thinking varchar, returns double[], lengths bigint[], seeds ubigint[], ended varchar[], mean_return double)',
            revision_status: 'varchar',
            selected: 'varchar',
            evidence: 'struct(kind varchar, shown struct(label varchar, rollout bigint, "return" double, length bigint)[], statistics struct("returns" struct(mean double, min double, max double), lengths struct(mean double, min double, max double), successes bigint, rollouts bigint))',
            seconds: 'double',
            origin: 'varchar'
        }
    )
)
select * from lines
