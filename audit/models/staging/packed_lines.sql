-- The same where the lines of a file may be in another order than iterations: read once more, one after the other.
with
records as (select * from records),
packed_lines as (select ordinal as number, * exclude (file, ordinal) from records)
select * from packed_lines
