"""Experiments on critics whose causes are planted: does the report state each, and nothing else?

    python -m benchmarks.interventions --out FOLDER

makes data sets cell by cell, one JSON line each, and goes on where it was stopped; `--report` prints the table of
requirements with what was found beside it. Edits are the simulated critic's, or vectors about means that are known.
"""
