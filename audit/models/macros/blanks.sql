-- White space as answers have it around their texts.
create macro blanks() as ' ' || chr(9) || chr(10) || chr(13)
