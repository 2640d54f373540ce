"""A small data set for the tests of the viewer's pages: two conditions, tasks and methods, with runs that differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from audit.options import RevisionSelection, options_of
from audit.viewer.session import Session
from tests.audit.samples import revision, write_run

CONDITIONS = ("one", "two")
TASKS = ("cartpole", "pong")
METHODS = ("puresearch", "threetraj")


def write_records(folder: Path, *, runs: int = 3, iterations: int = 8) -> Path:
    """Runs whose returns and answers are drawn, with some revisions that change nothing."""
    rng = np.random.default_rng(3)
    for condition in CONDITIONS:
        for env in TASKS:
            for variant in METHODS:
                for run in range(1, runs + 1):
                    key = {"condition": condition, "env": env, "variant": variant, "run": run}
                    rows = []
                    for iteration in range(iterations):
                        before = rng.normal(100 + 10 * run, 30, 3).round(1)
                        after = before if iteration % 4 == 3 else before + rng.normal(0, 25, 3).round(1)
                        answer = "The worst rollout fell." if rng.random() < 0.5 else "Nothing in particular."
                        row = revision(before, after, after=(1, 2.5, 3), answer=answer, iteration=iteration, **key)
                        if variant == "puresearch":
                            row["revised"]["source"] = "search"
                            row["evidence"] = None
                        rows.append(row)
                    write_run(folder / f"{condition}-{env}-{variant}-{run}", rows)
    return folder


def open_session(folder: Path, **options) -> Session:
    """A session over records, as `audit.view` opens it."""
    return Session(options_of(folder, RevisionSelection, options))


def number_of(session: Session, chosen) -> int:
    """How many revisions a link's filter has, as the page of revisions reads it."""
    from audit.viewer.query import Query

    each = {name: [values] if isinstance(values, str) else values for name, values in chosen.items()}
    items = [(name, value) for name, values in each.items() for value in values]
    return session.table.count(Query.parse(items, session.table.kinds))
