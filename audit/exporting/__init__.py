"""Recorded answers as files for trace viewers and for analyses elsewhere: `audit export` (`docs/sql.md`).

Each call of a run (`transcripts`) becomes a line of a part, which DuckDB joins with the verdicts of the audit
(`verdicts`), shapes as the format asks for (`formats`) and writes (`writing`).
"""
