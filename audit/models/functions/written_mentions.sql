-- The mentions that a function has written to a file of lines of JSON.
create macro written_mentions(file) as table
select *
from read_json(
    file,
    format = 'newline_delimited',
    maximum_object_size = 67108864,
    columns = {
        condition: 'varchar',
        env: 'varchar',
        variant: 'varchar',
        run: 'bigint',
        iteration: 'bigint',
        part: 'varchar',
        ordinal: 'bigint',
        "start": 'bigint',
        "end": 'bigint',
        "text": 'varchar',
        kind: 'varchar',
        labels: 'varchar[]',
        rollouts: 'bigint[]',
        worst: 'boolean',
        negated: 'boolean',
        discounted: 'boolean'
    }
)
