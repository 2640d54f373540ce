-- What a model's answer says beside the text that it proposes, which is between its first and its last fence, or all of an
-- answer without any; null where nothing remains. `proposed` is the text by component, as JSON.
create macro rationale(answer, proposed) as
case
    when contains(answer, '```') then nullif(
        trim(regexp_replace(regexp_replace(answer, '(?s)```.*```', chr(10)), '(?s)```.*$', ''), blanks()),
        ''
    )
    when list_contains(
        list_transform(json_extract_string(proposed, '$.*'), lambda each: trim(each, blanks())),
        trim(answer, blanks())
    ) then null
    else answer
end
