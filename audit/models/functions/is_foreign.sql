-- Whether an answer is in another language than English, which the audit's own detectors do not read, by its first 1,500
-- characters: there are four letters of another script and more for each English stop word; or there are different stop words of other
-- languages, or one and an accent, and more of these words than English ones. Greek letters are mathematics. Six English stop
-- words at the beginning of an answer that is nearly all in Latin letters decide at once, since counting takes far longer.
create macro is_foreign(answer) as
case
    when strlen(answer) < 1.1 * length(answer)
        and regexp_matches(left(answer, 500), '(?s)^(?:.*?' || english_words() || '){6}')
    then false
    when not regexp_matches(left(answer, 1500), '[^\x00-\x7f]|' || foreign_words(true) || '|' || foreign_words(false)) then false
    else
        length(regexp_replace(left(answer, 1500), '[\p{Latin}\p{Common}\p{Inherited}\p{Greek}]+', '', 'g'))
            >= 4 + 4 * len(regexp_extract_all(left(answer, 1500), english_words()))
        or (
            2 * len(list_distinct(regexp_extract_all(lower(left(answer, 1500)), foreign_words(true))))
                + len(list_distinct(regexp_extract_all(lower(left(answer, 1500)), foreign_words(false))))
                + regexp_matches(left(answer, 1500), '[à-öø-ž]')::integer
                >= 3
            and len(regexp_extract_all(lower(left(answer, 1500)), foreign_words(true)))
                + len(regexp_extract_all(lower(left(answer, 1500)), foreign_words(false)))
                > len(regexp_extract_all(left(answer, 1500), english_words()))
        )
end
