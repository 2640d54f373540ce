-- Whether an answer may hold thinking that its record does not keep apart: it has a mark of thinking anywhere, and
-- `collector.records.split_thinking` decides whether that counts.
create macro may_think(candidate) as
coalesce(
    regexp_matches(candidate.answer, getvariable('thinking_marks')[1])
    or regexp_matches(candidate.answer, getvariable('thinking_marks')[2])
    or regexp_matches(candidate.answer, getvariable('thinking_marks')[3])
    or regexp_matches(candidate.answer, getvariable('thinking_marks')[4]),
    false
)
