"""The table in `docs/optimizers.md` is what `audit check` reports of runs of each tool.

`python -m tests.test_optimizers_page` prints it anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import audit

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tables" / "commands_of_optimizers.md"
TOOLS = ROOT / "tests" / "data" / "tools"
RUNS = {
    "GEPA's folder": TOOLS / "gepa",
    "Recorder": ROOT / "data" / "gepa-planted",
    "DSPy's GEPA": TOOLS / "recorded" / "dspy-gepa-stub",
    "SIMBA": TOOLS / "recorded" / "simba-stub",
    "OpenEvolve": TOOLS / "openevolve",
    "ShinkaEvolve": TOOLS / "shinka",
}
SHORT = {
    "no critic's answers with a rationale": "no rationale",
    "no two items shown beside each other with an answer or texts to compare": "no rationale",
    "no critic saw worst, median and best rollout, or a batch of scored items": "programs shown",
    "no scores of single examples": "no example scores",
    "no revision under a rule with a known threshold": "no threshold",
    "candidates are texts: nothing to run": "nothing to run",
    "no truth.jsonl, which the simulated backend alone writes": "no truth",
}


def table() -> str:
    """The table in Markdown."""
    columns = {name: verdicts(run) for name, run in RUNS.items()}
    lines = [["command", *columns], ["---"] * (len(columns) + 1)]
    commands = next(iter(columns.values()))
    lines += [[f"`{command}`", *(column[command] for column in columns.values())] for command in commands]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def verdicts(run: Path) -> dict[str, str]:
    """What each command is for a run: a tick, or why not in few words."""
    rows = audit.check(run, cache=False).rows
    return {row["command"]: "✓" if row["supported"] else SHORT[row["reason"]] for row in rows}


@pytest.mark.slow
def test_the_table_is_what_check_reports():
    assert table() in PAGE.read_text()


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
