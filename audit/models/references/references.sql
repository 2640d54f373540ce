-- One row per revision whose critic's answer is recorded: whether its answer refers to the item asked about, by the detector asked
-- for. A pattern cannot determine whether a reference discounts it, and one of a user's own may be in any language.
with
critic_answers as (select condition, env, variant, run, iteration, answer from critic_answers),

"references" as (
    select
        condition, env, variant, run, iteration,
        getvariable('detector') as detector,
        getvariable('about') as about,
        regexp_matches(answer, getvariable('detector_pattern'), 'i') as found,
        if(getvariable('is_own'), found, unless_foreign(found, answer)) as cites,
        if(about = 'worst', cites, null) as references_worst,
        null::boolean as discounts_worst
    from critic_answers
)

select * exclude (found) from "references"
