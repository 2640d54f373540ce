"""Runs as data frames, for tests of what compares them over tasks; and the command in process."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stats.cli import main
from stats.measures.scores import Comparison, Scale, comparisons

UNIT = Scale(0.0, 1.0)

Cells = Mapping[tuple[str, str], Sequence[float]]


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of `stats`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["stats", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


def rows(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[dict[str, Any]]:
    """The rows that a command prints, without a word beside them."""
    status, out, err = run(capsys, *arguments, "--format", "json")
    assert (status, err) == (0, "")
    found: list[dict[str, Any]] = json.loads(out)
    return found


def refused(capsys: pytest.CaptureFixture[str], status: int, words: str, *arguments: str | Path) -> str:
    """What is wrong with how a command is refused: with this status, in one line that has these words."""
    found, out, err = run(capsys, *arguments)
    is_right = (found, out, err.count("\n")) == (status, "", 1) and err.startswith("stats: ") and words in err
    return "" if is_right and "\x1b" not in err else f"{arguments}: {found}, {out!r}, {err!r}"


def frame(cells: Cells, condition: str = "x") -> pd.DataFrame:
    """One row per run: the returns of each (variant, env)."""
    rows = [
        {"condition": condition, "env": env, "variant": variant, "run": run, "mean_return": value}
        for (variant, env), values in cells.items()
        for run, value in enumerate(values, start=1)
    ]
    return pd.DataFrame(rows)


def compared(cells: Cells, **scales: Scale | str) -> Comparison:
    """These returns as scores; tasks whose scale is not given have returns from 0 to 1."""
    runs = frame(cells)
    found = {("x", env): scales.get(env, UNIT) for env in set(runs["env"])}
    (comparison,) = comparisons(runs, "mean_return", found)
    return comparison
