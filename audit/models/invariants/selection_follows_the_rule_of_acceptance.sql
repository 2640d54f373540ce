-- Released rewards have four decimals, so candidates that look equal may have differed when they were run.
with
rules as (
    select
        condition, env, variant, run,
        coalesce(
            selection_rule,
            case method.commits when 'better' then 'better' when 'revised' then 'always' end
        ) as rule
    from run_records
)
select changes.*, rule
from changes
-- Tests on further rollouts may decide against the two means.
join (select condition, env, variant, run, iteration from episodes where acceptance is null)
    using (condition, env, variant, run, iteration)
join rules using (condition, env, variant, run)
where abs(delta) > 1e-4
    and accepted <> case
        when rule = 'always' then true
        when rule = 'better' then delta > 0
        when rule is null then false
        else accepted
    end
