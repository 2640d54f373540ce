"""Drafts of mappings, by usual names: `audit import --guess`.

`columns` reads the first rows; `names` has the words that names of columns are made of, and what tools call theirs;
`candidates` and `rows` decide by them which column is which field. What fits once goes into the draft with its reason;
where several columns fit, or none, the draft has the possible lines as comments (`draft`). `guess` puts this together.
"""
