-- One row is a condition, task, method, and something that its critics' answers speak of.
-- key: condition, env, variant, kind, topic
-- Topics describe wording alone. They count what looks like a reference, whether it is one or not.
with
plain as (
    select
        condition, env, variant, run, iteration, shown,
        answer,
        -- Markup and repeated white space aside, and without parameters and code.
        lower(
            regexp_replace(
                regexp_replace(answer, '(?s)```.*?```|params\[\d+\][^\n]*', ' ', 'g'), '[\s*_`#]+', ' ', 'g'
            )
        ) as text
    from critic_answers
),

totals as (select condition, env, variant, count(*) as answers_of_method from plain group by all),

worded as (
    select
        * exclude (answer, text, shown),
        {
            'label': list_concat(
                regexp_extract_all(text, '\b(?:worst|median|best|representative|typical|better|worse)\b'),
                list_filter(
                    list_transform(shown, lambda each: lower(each.name)),
                    lambda name: len(name) > 1 and contains(text, name)
                )
            ),
            'number': regexp_extract_all(
                text,
                '\b(?:rollout|trajectory|episode|run|trial|example|input|item|case|program|attempt|step|iteration)s?'
                || ' #?\d+\b'
            ),
            'ordinal': regexp_extract_all(
                text, '\b(?:first|second|third|fourth|fifth|last|final|previous|next|1st|2nd|3rd) [a-z][a-z-]{2,}\b'
            ),
            'quoted': list_transform(
                regexp_extract_all(answer, '"[^"\n]{3,60}"|“[^”\n]{3,60}”|`[^`\n]{3,60}`'),
                lambda each: lower(each[2:-2])
            ),
            -- What is judged: the words behind "wrong", or in front of "is wrong".
            'phrase': list_filter(
                list_concat(
                    regexp_extract_all(
                        text,
                        '\b(?:fail(?:s|ed|ing|ures?)?|wrong(?:ly)?|bad(?:ly)?|poor(?:ly)?|errors?|mistakes?|issues?'
                        || '|missing|weak|too \w+|unstable|los(?:t|es|s)|good|well|better|success(?:ful)?'
                        || '|correct(?:ly)?|strong|stable|improv(?:e|es|ed|ement)|low|high)'
                        || '(?: (?:of|in|with|the|a|an|to|its))* ([a-z][a-z-]{3,}(?: [a-z][a-z-]{3,})?)',
                        1
                    ),
                    regexp_extract_all(
                        text,
                        '\b((?:[a-z][a-z-]{3,} )?[a-z][a-z-]{3,}) (?:is|are|was|were) (?:too \w+|wrong|bad|poor'
                        || '|missing|weak|unstable|good|correct|strong|stable|low|high|lost|unclear|vague)\b',
                        1
                    )
                ),
                lambda each:
                    not regexp_matches(
                        each,
                        '^(?:that|this|these|those|than|then|there|they|when|where|which|while|with|because|from|into'
                        || '|would|could|should|been|have|also|only|more|most|very|what|both|each|some|such|other'
                        || '|still|again|instead)\b'
                    )
            )
        } as found
    from plain
),

occurring as (
    select * exclude (found), 'label' as kind, unnest(found.label) as topic from worded
    union all
    select * exclude (found), 'number', unnest(found.number) from worded
    union all
    select * exclude (found), 'ordinal', unnest(found.ordinal) from worded
    union all
    select * exclude (found), 'quoted', unnest(found.quoted) from worded
    union all
    select * exclude (found), 'phrase', unnest(found.phrase) from worded
)

select
    condition, env, variant,
    kind,  --: label, number, ordinal, quoted, phrase: how it was found
    topic,  --: in lower case; a phrase is what is judged, as in 'wrong sign' or 'the sign is wrong'
    count(distinct (run, iteration)) as answers,  --: that have it
    100 * answers / any_value(answers_of_method) as answers_pct,  --: of the answers of that condition, task and method
    count(*) as occurrences,  --: in all of them
    any_value(answers_of_method) as of_answers,  --: number of answers of that condition, task and method
    row_number() over (
        partition by condition, env, variant, kind
        order by answers desc, occurrences desc, topic
    ) as rank  --: among topics of that kind, by answers, from 1
from occurring
join totals using (condition, env, variant)
group by condition, env, variant, kind, topic
order by condition, env, variant, kind, rank
