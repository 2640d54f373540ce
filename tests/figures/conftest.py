"""A small data set, made by hand: two conditions, two tasks, three methods, with gaps of every kind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from audit.output.errors import Problem
from figures.data import FRAMES, ROWS, Records
from figures.page.build import Contents, build, contents
from figures.page.drawings import drawings_of
from tests.figures.experiment import EFFECTS, units
from tests.figures.plots.likeness import plotted

SALIENT, REAL = "simulated-salient", "gpt-oss-20b"
COMMAND = "python -m figures data/runs --out 'my figures'"

# (condition, env, variant, run): iterations. R2PO misses FrozenLake under one condition, a run of RepTraj is short,
# and the real model has one run.
RUNS = {
    (SALIENT, "cartpole", "threetraj", 1): 6,
    (SALIENT, "cartpole", "threetraj", 2): 6,
    (SALIENT, "cartpole", "reptraj", 1): 6,
    (SALIENT, "cartpole", "reptraj", 2): 3,
    (SALIENT, "cartpole", "r2po", 1): 6,
    (SALIENT, "frozenlake", "threetraj", 1): 6,
    (SALIENT, "frozenlake", "threetraj", 2): 6,
    (SALIENT, "frozenlake", "reptraj", 1): 6,
    (REAL, "cartpole", "threetraj", 1): 6,
}
CELL = ("condition", "env", "variant")
PATTERNS = ("near_optimal_break", None, "fine_tune", "other_regression", "other_improvement", "surgical_backfire")
STRUCTURES = ("all_diverse", "identical", "identical", "failure_confirmed", "failure_confirmed", "failure_confirmed")
DIRECTIONS = ("regression", "no_change", "improvement", "regression", "improvement", "regression")


def _iterations() -> list[dict[str, Any]]:
    return [
        {
            **dict(zip(("condition", "env", "variant", "run"), key, strict=True)),
            "iteration": i,
            "kept_return": float(100 * i + 10 * key[3]) if key[1] == "cartpole" else 0.1 * i,
            "best_so_far": float(100 * i + 10 * key[3]) if key[1] == "cartpole" else 0.1 * i,
            "rollouts_spent": 40 * (i + 1),
        }
        for key, length in RUNS.items()
        for i in range(length)
    ]


def _revisions() -> list[dict[str, Any]]:
    rows = []
    for row in _iterations():
        i = row["iteration"]
        critic = row["variant"] == "threetraj"
        rows.append(
            {key: row[key] for key in ("condition", "env", "variant", "run", "iteration")}
            | {
                "r0": row["kept_return"],
                "delta": row["run"] * {"regression": -5.0, "no_change": 0.0, "improvement": 5.0}[DIRECTIONS[i]],
            }
            | {"direction": DIRECTIONS[i], "pattern": PATTERNS[i], "edit_distance": (3, 0, 1, 1, 4, 2)[i]}
            | {"strict": i == 0 if critic else None, "permissive": i in (0, 3) if critic else None}
            | dict.fromkeys(("references_worst", "cites"), i in ((0, 2, 3), (0, 1))[row["run"] - 1] if critic else None)
            | {"structure": STRUCTURES[i]}
            | {"accepted": i != 0}
        )
    return rows


def _summaries(revisions: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    cells = list(revisions.groupby(["condition", "env", "variant"]))
    keys = [dict(zip(("condition", "env", "variant"), key, strict=True)) for key, _ in cells]
    summary = [
        {**key, "runs": cell["run"].nunique(), "revisions": len(cell), "mean_delta": cell["delta"].mean()}
        | {"mean_edit_distance": 2.5, "accepted": 4, "accepted_pct": 100 * 4 / len(cell)}
        | {"regressions": int((cell["direction"] == "regression").sum()), "regressions_pct": 50.0}
        | {"improvements": 2, "no_change": 1}
        for key, (_, cell) in zip(keys, cells, strict=True)
    ]
    salience = [
        {**row, "detector": "word", "strict": strict, "strict_pct": 100 * strict / row["regressions"]}
        | {"permissive": 2 * strict, "permissive_pct": 200 * strict / row["regressions"]}
        | {"worst_below_median": strict, "worst_below_best": 2 * strict}
        for row in summary
        if row["variant"] == "threetraj"
        for strict in [row["runs"]]
    ]
    agreement = [
        {**key, "structure": structure, "revisions": 3, "mean_delta": -1.25}
        for key in keys
        if key["variant"] == "threetraj"
        for structure in ("identical", "failure_confirmed")
    ]
    # Of six revisions of a run three are regressions, of which two cite in run 1 and one in run 2, and so on.
    shares = {1: (200 / 3, 50.0, 0.0), 2: (50.0, 25.0, 50.0)}
    citing = ("citing_regressions_pct", "citing_improvements_pct", "citing_no_change_pct")
    rates = [
        {key: row[key] for key in (*CELL, "revisions", "regressions", "improvements", "no_change")}
        | {"detector": "word", "about": "worst", "runs": row["runs"]}
        | dict(zip(citing, shares[row["runs"]], strict=True))
        | {"risk_ratio": 2.0, "risk_ratio_low": 0.5 if row["runs"] > 1 else None, "risk_ratio_high": None}
        | {"rough": ["risk_ratio"], "citing_regressions_pct_low": 40.0 if row["runs"] > 1 else None}
        | {"citing_regressions_pct_high": 90.0 if row["runs"] > 1 else None}
        for row in summary
        if row["variant"] == "threetraj"
    ]
    noise = [
        {key: row[key] for key in (*CELL, "revisions", "regressions")}
        | {"regressions_pct": 100 * row["regressions"] / row["revisions"], "tested": row["revisions"]}
        | {"expected_regressions_pct": 20.0, "expected_pooled_pct": 30.0, "beyond_noise": 1}
        for row in summary
    ]
    return {"summary": summary, "salience": salience, "agreement": agreement, "rates": rates, "noise": noise}


@pytest.fixture(scope="session")
def records() -> Records:
    iterations = pd.DataFrame(_iterations())
    revisions = pd.DataFrame(_revisions())
    runs = iterations.groupby(["condition", "env", "variant", "run"])["kept_return"]
    facts = iterations[["condition", "env", "variant", "run"]].drop_duplicates().reset_index(drop=True)
    real = facts["condition"] == REAL
    return Records(
        iterations=iterations,
        runs=runs.agg(mean_return="mean", best_return="max").reset_index(),
        facts=facts.assign(
            backend=real.map({True: "ollama", False: "simulated"}),
            model=real.map({True: "gpt-oss:20b", False: "salient"}),
            floor=0.0,
            optimum=facts["env"].map({"cartpole": 500.0, "frozenlake": 1.0}),
            tau_c=facts["env"].map({"cartpole": 480.0}).where(facts["variant"] == "r2po"),
        ),
        revisions=revisions,
        problems=[Problem("runs/episodes.jsonl", 7, "a torn line; left out")],
        **_summaries(revisions),
    )


def chosen(records: Records, **where: list[str]) -> Records:
    """The records of some conditions, tasks (`env`) or methods (`variant`)."""
    frames = {name: getattr(records, name) for name in FRAMES}
    rows = {name: getattr(records, name) for name in ROWS}
    return replace(
        records,
        **{name: frame[frame[list(where)].isin(where).all(axis=1)] for name, frame in frames.items()},
        **{name: [row for row in found if all(row[k] in where[k] for k in where)] for name, found in rows.items()},
    )


@pytest.fixture(scope="session")
def everything(records: Records) -> Contents:
    """All tables and drawings of the data set; nobody may change them."""
    return contents(records)


@pytest.fixture(scope="session")
def wide(records: Records) -> Records:
    """With baselines, other settings of τ_c and an experiment, so that there is a figure of each kind."""

    def more(frame: pd.DataFrame) -> pd.DataFrame:
        mine = frame[(frame["condition"] == SALIENT) & (frame["variant"] == "threetraj")]
        others = [mine.assign(condition=f"{SALIENT}+tau-{tau}", variant="r2po") for tau in ("off", "half")]
        return pd.concat([frame, *others, mine.assign(variant="propsplus")], ignore_index=True)

    iterations = more(records.iterations)
    apart = iterations.assign(  # so that intervals are wide
        **{column: iterations[column] * iterations["run"] for column in ("kept_return", "best_so_far")}
    )
    tables = {"iterations": apart, "runs": more(records.runs), "facts": more(records.facts)}
    return replace(records, **tables, effects=EFFECTS, units=units(SALIENT))


@pytest.fixture(scope="session")
def figure_of_each_kind(wide: Records) -> dict[str, Figure]:
    """Of one condition; nobody may change them."""
    return {drawing.stem: drawing.figure for drawing in drawings_of(wide, SALIENT)}


def sketch(figure: Figure, stem: Path) -> list[Path]:
    """Write what a figure plots, in place of its picture."""
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "pdf", "svg")]
    for path in paths:
        path.write_text(json.dumps(plotted(figure)), encoding="utf-8")
    return paths


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages hold sketches: Matplotlib's pictures take seconds each, and have tests of their own."""
    monkeypatch.setattr("figures.page.build.save", sketch)


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn: for tests of tables and words."""
    monkeypatch.setattr("figures.page.build.drawings_of", lambda *_, **__: [])


@pytest.fixture(scope="session")
def index(records: Records, everything: Contents, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the data set, with sketches, in a folder that did not exist; nobody may write there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("figures.page.build.save", sketch)
        patch.setattr("figures.page.build.contents", lambda *_, **__: everything)
        return build(records, tmp_path_factory.mktemp("built") / "new" / "out", COMMAND)
