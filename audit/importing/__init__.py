"""Turns other people's logs of revisions into native records: `audit import` (`docs/import.md`).

A mapping (`mapping`) says which column of the log is which field of a record (`fields`). Rows are read one at a time
(`rows`), translated and checked field by field (`translating`), and written beside the place where the data set will
be (`writing`), which appears there when it is complete.
"""
