"""Log revisions of a prompt as runs of MLflow, and save their table: `python run_mlflow.py FOLDER OUT.csv`."""

from __future__ import annotations

import sys

import mlflow

mlflow.set_tracking_uri(f"sqlite:///{sys.argv[1]}/mlflow.db")
mlflow.set_experiment("tickets")
parent = None
for number, (prompt, score) in enumerate([("Be brief.", 0.25), ("Be brief. Cite.", 0.75), ("Be.", 0.5)]):
    with mlflow.start_run(run_name=f"candidate-{number}") as run:
        mlflow.log_params({"prompt": prompt})
        mlflow.log_metric("score", score)
        mlflow.set_tag("answer", f"Revision {number}: the first example failed.")
        if parent is not None:
            mlflow.set_tag("parent", parent)
        parent = parent or run.info.run_id
mlflow.search_runs(experiment_names=["tickets"]).to_csv(sys.argv[2], index=False)
