"""The table in `docs/optimizers.md` is what `audit check` reports of runs of each tool.

`python -m tests.test_optimizers_page` prints it anew.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

import audit
from tests.audit.sources import test_reflexion as reflexion

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
    "Reflexion": None,
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


def table(folder: Path) -> str:
    """The table in Markdown.

    Args:
        folder: a log of Reflexion is written there.
    """
    reflexion.write(folder, reflexion.problem([2], [1, 3], [1, 2, 3]), reflexion.problem([1], [1, 2]))
    columns = {name: verdicts(run or folder) for name, run in RUNS.items()}
    lines = [["command", *columns], ["---"] * (len(columns) + 1)]
    commands = next(iter(columns.values()))
    lines += [[f"`{command}`", *(column[command] for column in columns.values())] for command in commands]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def verdicts(run: Path) -> dict[str, str]:
    """What each command is for a run: a tick, or why not in few words."""
    rows = audit.check(run, cache=False).rows
    return {row["command"]: "✓" if row["supported"] else SHORT[row["reason"]] for row in rows}


@pytest.mark.slow
def test_the_table_is_what_check_reports(tmp_path):
    assert table(tmp_path) in PAGE.read_text()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.stdout.write(table(Path(temporary)) + "\n")
