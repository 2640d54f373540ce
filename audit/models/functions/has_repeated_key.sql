-- Whether a JSON object gives a key twice.
create macro has_repeated_key(object) as
coalesce(len(json_keys(object)) <> len(list_distinct(json_keys(object))), false)
