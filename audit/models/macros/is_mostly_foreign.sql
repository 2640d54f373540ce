-- Whether a text has four letters of another script and more for each English stop word; or different stop words of
-- other languages, or one and an accent, and more of these words than English ones. Greek letters are mathematics.
create macro is_mostly_foreign(words) as
length(regexp_replace(words, '[\p{Latin}\p{Common}\p{Inherited}\p{Greek}]+', '', 'g'))
    >= 4 + 4 * len(regexp_extract_all(words, english_words()))
or (
    2 * len(list_distinct(regexp_extract_all(lower(words), foreign_words(true))))
        + len(list_distinct(regexp_extract_all(lower(words), foreign_words(false))))
        + regexp_matches(words, '[à-öø-ž]')::integer
        >= 3
    and len(regexp_extract_all(lower(words), foreign_words(true)))
        + len(regexp_extract_all(lower(words), foreign_words(false)))
        > len(regexp_extract_all(words, english_words()))
)
