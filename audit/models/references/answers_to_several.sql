-- One row per critic's answer whose prompt shows several items; what it thought is left out.
with
critic_answers as (select * from critic_answers),

answers_to_several as (select * replace (null as thinking) from critic_answers where len(shown) > 1)

select * from answers_to_several
