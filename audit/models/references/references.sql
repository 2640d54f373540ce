-- One row is a revision that a critic answered for, by the detector asked for.
-- key: condition, env, variant, run, iteration
-- cached
-- A pattern cannot determine whether a reference discounts the item, and a pattern of a user's own may be in any
-- language.
select
    condition, env, variant, run, iteration,
    getvariable('detector') as detector,  --: word, phrase, resolved, judge, or the name of a user's own
    getvariable('about') as about,
    if(
        getvariable('is_own'),
        regexp_matches(answer, getvariable('detector_pattern'), 'i'),
        unless_foreign(regexp_matches(answer, getvariable('detector_pattern'), 'i'), answer)
    ) as cites,
    --: whether the answer refers to it, as the detector finds; null in another language than English, which it does not
    --: read
    if(about = 'worst', cites, null) as references_worst,
    --: whether the critic's answer refers to the worst rollout; null where another item is asked about
    null::boolean as discounts_worst
    --: whether it discounts it, as a judge or a user's function has it; null for other detectors
from critic_answers
