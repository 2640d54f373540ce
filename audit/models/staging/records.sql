-- One row is a sound line of a record file.
-- key: condition, env, variant, run, iteration
-- internal
--: condition, env, variant, run, iteration, initial, revised, revision_status, selected, evidence, seconds, error
--: tau_c, restrained, answers, acceptance, origin
--: file: what people call its file
--: line: its number in the file, from 1
select * from read_parquet(getvariable('records'))
