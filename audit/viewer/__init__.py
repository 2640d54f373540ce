"""The local page: a count, the revisions that it counts, the answer behind each, and its rollouts run again.

`audit.view` is its one door. Behind it: `session` holds the open records and `table` all their revisions in a file of
DuckDB's; `query` reads filters from addresses; a module for each page answers its requests; `server` serves them, and
`export` writes the same to a folder. `static` is what runs in the browser.
"""
