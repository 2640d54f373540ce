-- One row is an iteration that proposed nothing, since no answer of its search could be read.
-- key: condition, env, variant, run, iteration
-- internal
--: condition, env, variant, run, iteration
select * from read_parquet(getvariable('skipped'))
