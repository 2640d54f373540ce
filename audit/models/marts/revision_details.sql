-- One row per revision, with everything that the other relations say of it.
with
revisions as (select * from revisions),
evidence as (select * from evidence),
"references" as (select * from "references"),
salience as (select condition, env, variant, run, iteration, strict, permissive from salience),
patterns as (select condition, env, variant, run, iteration, pattern from patterns),

revision_details as (
    select
        condition, env, variant, run, iteration,
        r0, r1, delta, direction,
        edit_distance, l2_distance, max_change, changed,
        accepted,
        worst, median, best, severity, structure,
        references_worst, strict, permissive,
        pattern
    from revisions
    left join evidence using (condition, env, variant, run, iteration)
    left join "references" using (condition, env, variant, run, iteration)
    left join salience using (condition, env, variant, run, iteration)
    left join patterns using (condition, env, variant, run, iteration)
)

select * from revision_details order by condition, env, variant, run, iteration
