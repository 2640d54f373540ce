-- Whether an answer may hold thinking that its record does not keep apart: it has a mark of thinking anywhere, and
-- `collector.records.split_thinking` decides whether that counts.
create macro may_think(candidate) as
coalesce(regexp_matches(candidate.answer, getvariable('thinking_marks')), false)
