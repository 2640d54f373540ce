-- The same as a pack has it: files by their places, and of each its lines one after the other.
with
records as (select * from records),
packed_lines as (select * exclude (file, ordinal) from records order by place, ordinal)
select * from packed_lines
