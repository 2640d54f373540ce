-- Released rewards have four decimals, so candidates that look equal may have differed when they were run.
select changes.*, episodes.selected
from changes
join episodes using (condition, env, variant, run, iteration)
where accepted <> (selected = 'revised') and abs(delta) > 1e-4
