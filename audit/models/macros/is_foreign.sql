-- Whether an answer is in another language than English, which the audit's own detectors do not read, by its first
-- 1,500 characters but for quotations. Six English stop words at the beginning of an answer that is nearly all in Latin
-- letters decide at once, and so does the lack of anything foreign, since counting takes far longer.
create macro is_foreign(answer) as
case
    when strlen(answer) < 1.1 * length(answer)
        and regexp_matches(left(answer, 500), '(?s)^(?:.*?' || english_words() || '){6}')
    then false
    when not regexp_matches(left(answer, 1500), '[^\x00-\x7f]|' || foreign_words(true) || '|' || foreign_words(false))
    then false
    else is_mostly_foreign(regexp_replace(left(answer, 1500), '`[^`]*`|«[^»]*»|“[^”]*”|„[^“”]*[“”]|「[^」]*」', ' ', 'g'))
end
