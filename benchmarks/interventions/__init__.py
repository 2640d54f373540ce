"""Experiments on simulated critics whose causes are planted: does each test find what there is, and nothing else?

    python -m benchmarks.interventions --out FOLDER

makes data sets cell by cell, one JSON line each, and goes on where it was stopped; `--report` prints the tables of
`docs/causes.md`.
"""
