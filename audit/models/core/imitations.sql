-- One row per program shown beside the one to revise: how similar the text is to it before and after the revision, as
-- `audit/python_models/imitations.py` finds it.
with
imitations as (
    select *
    from read_json(
        getvariable('imitations_file'),
        format = 'newline_delimited',
        columns = {
            condition: 'varchar',
            env: 'varchar',
            variant: 'varchar',
            run: 'bigint',
            iteration: 'bigint',
            place: 'bigint',
            similarity_before: 'double',
            similarity_after: 'double'
        }
    )
)

select * from imitations
