-- One row per revision both of whose texts are known: how far it moved them, as `audit/measures/text_edits.py` measures.
with
text_edits as (
    select *
    from read_json(
        getvariable('text_edits_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            components: 'bigint',
            changed_components: 'bigint',
            edit_ratio: 'double',
            token_change: 'double',
            length_ratio: 'double'
        }
    )
)

select * from text_edits
