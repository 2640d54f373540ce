-- One row per condition, task and method: how many answers the detector has looked at, and how many of them it cannot read, which
-- are in another language than English.
with
"references" as (select * from "references"),

unread_answers as (
    select
        condition, env, variant, detector,
        count(*) as answers,
        count(*) - count(cites) as unread
    from "references"
    group by all
)

select * from unread_answers order by condition, env, variant
