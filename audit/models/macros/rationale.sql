-- What a model's answer says beside the text that it proposes: that is between its first and its last fence, in blocks
-- of SEARCH and REPLACE, or all of an answer without either; null where nothing remains. `proposed` is the text by
-- component, as JSON.
create macro rationale(answer, proposed) as
case
    when contains(answer, '```') or contains(answer, '<<<<<<< SEARCH') then nullif(
        trim(
            regexp_replace(
                regexp_replace(
                    regexp_replace(answer, '(?s)```.*```', chr(10)),
                    '(?s)<<<<<<< SEARCH.*?(?:>>>>>>> REPLACE|$)', chr(10), 'g'
                ),
                '(?s)```.*$', ''
            ),
            blanks()
        ),
        ''
    )
    when list_contains(
        list_transform(json_extract_string(proposed, '$.*'), lambda each: trim(each, blanks())),
        trim(answer, blanks())
    ) then null
    else if(trim(answer, blanks()) = '', null, answer)
end
