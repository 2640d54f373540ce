-- The same where `segments` is a table: its rows that were just added.
with
segments as (select * from segments),
added as (select * exclude (segment) from segments where segment = getvariable('written'))
select * from added
