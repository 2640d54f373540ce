-- What a model's answer says beside the text that it proposes, which is inside of its first and last fence, or all of an
-- answer without any; null where nothing remains. `proposed` is the text by component, as JSON.
create macro rationale(answer, proposed) as
case
    when contains(answer, '```') then nullif(
        trim(
            regexp_replace(regexp_replace(answer, '(?s)```.*```', chr(10)), '(?s)```.*$', ''),
            ' ' || chr(9) || chr(10) || chr(13)
        ),
        ''
    )
    when list_contains(
        list_transform(from_json(proposed, '["VARCHAR"]'), lambda each: trim(each)),
        trim(answer)
    ) then null
    else answer
end
