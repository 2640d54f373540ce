-- Whether an answer may hold thinking that its record does not keep apart, which `collector.records.split_thinking` decides:
-- it begins with a mark, or has one outside of code.
create macro may_think(candidate) as
case
    when regexp_matches(candidate.answer, '(?i)</?think>') then
        coalesce(candidate.thinking, '') = ''
        and regexp_matches(
            regexp_replace(candidate.answer, '(?is)^(\s*<think>)|```.*?```|`[^`\n]+`', '\1', 'g'), '(?i)</?think>'
        )
    else false
end
