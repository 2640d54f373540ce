-- The answer speaks of a loop that the policy was caught in, and a small edit raised the return.
-- Score: gain per changed parameter, in spans (the way from the task's floor to what counts as high).
select
    condition, env, variant, run, iteration,
    delta / edit_distance / (high - floor) as score
from critic_answers
join revisions using (condition, env, variant, run, iteration)
join thresholds using (condition, env, variant, run)
where delta > meaningful and edit_distance between 1 and surgical_max
    and regexp_matches(answer, '\b(self-)?(loop(s|ed|ing)?|cycl(e|es|ed|ing)|oscillat(e|es|ed|ing|ion|ions)|back and forth)\b', 'i')
