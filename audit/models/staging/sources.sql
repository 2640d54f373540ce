-- One row per source of records: the type of its lines, and how far a mean return may be from the mean of its returns.
with
sources as (
    select unnest(
        getvariable('sources')::struct(source varchar, form varchar, precision_of_mean double)[],
        recursive := true
    )
)
select * from sources
