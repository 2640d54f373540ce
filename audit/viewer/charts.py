"""The learning curves of the overview."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from audit.store import rows_of
from audit.viewer.counts import GROUP

if TYPE_CHECKING:
    from audit.viewer.session import Session

RUNS: Final = 20
"""Runs of a condition, task and method whose curves are drawn; the mean is that of all."""
POINTS: Final = 50
"""Points of a curve, about: more cannot be seen in a small panel."""

_CELL: Final = ", ".join(GROUP)
_SAME: Final = " and ".join(f"places.{name} = steps.{name}" for name in (*GROUP, "run"))


def curves(session: Session) -> dict[str, Any]:
    """The best return so far of runs, and its mean over the runs of each condition, task and method.

    Curves are thinned to about `POINTS` points, of which the last is one. A mean is of all runs: it begins where
    the last of them does, and ends where the first does.
    """

    def compute() -> dict[str, Any]:
        step = f"greatest(1, max(iteration) over (partition by {_CELL}, run) // {POINTS})"
        last = f"max(iteration) over (partition by {_CELL}, run)"
        steps = session.options.select(session.store.relation("iterations"))
        thin = (
            steps.project(
                f"{_CELL}, run, iteration, best_so_far, {step} as step, {last} as last, "
                f"dense_rank() over (partition by {_CELL} order by run) as place"
            )
            .filter(f"place <= {RUNS} and (last - iteration) % step = 0")
            .aggregate(
                f"{_CELL}, run, list(iteration order by iteration) as iterations, "
                "list(best_so_far order by iteration) as best",
                f"{_CELL}, run",
            )
            .order(f"{_CELL}, run")
        )
        runs = rows_of(thin)
        # Runs may have recorded different iterations: between them the best so far stays what it is.
        means = steps.query(
            "steps",
            f"""
            select {_CELL}, iteration, avg(best) as mean, runs
            from (
                select places.*, steps.best_so_far as best
                from (
                    select * from (select distinct {_CELL}, iteration from steps)
                    join (
                        select {_CELL}, run, max(iteration) as last, count(*) over (partition by {_CELL}) as runs
                        from steps group by {_CELL}, run
                    ) using ({_CELL})
                    where iteration <= last
                ) places
                asof join steps on {_SAME} and places.iteration >= steps.iteration
            )
            group by all having count(*) = runs order by {_CELL}, iteration
            """,  # noqa: S608 - made of the program's own names
        )
        assert means is not None  # the statement has rows
        by_cell: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
        for row in rows_of(means):
            by_cell[tuple(row[name] for name in GROUP)].append(row)
        return {"runs": runs, "means": [_mean(cell, rows) for cell, rows in by_cell.items()]}

    return session.once("curves", compute)


def _mean(cell: tuple[str, ...], rows: list[dict[str, Any]]) -> dict[str, Any]:
    thinned = rows[:: -max(1, len(rows) // POINTS)][::-1]
    return {
        **dict(zip(GROUP, cell, strict=True)),
        "runs": rows[0]["runs"],
        "iterations": [row["iteration"] for row in thinned],
        "mean": [row["mean"] for row in thinned],
    }
