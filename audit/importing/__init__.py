"""Turns other people's logs of revisions into native records: `audit import` (`docs/import.md`).

A mapping (`mapping`) states which column of the log is which field of a record (`fields`). Rows are read one at a time
(`rows`), translated and checked field by field (`translating`), and written to a folder beside
the data set's place (`writing`), where the data set appears once it is complete.
"""
