-- One row is a condition, task and method with critics' answers.
-- key: condition, env, variant
-- internal
-- cached
select
    condition, env, variant, detector,
    count(*) as answers,  --: that it has looked at
    count(*) - count(cites) as unread  --: those in another language than English, which it does not read: what they
    --: cite is not known
from "references"
group by all
order by condition, env, variant
