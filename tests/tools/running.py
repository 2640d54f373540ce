"""Optimizers run for real by the scripts beside this module, and what recorders wrote of them.

A tool is used where it can be had: in this environment, or in that of the Python that a variable names, such as
`GEPA_PYTHON`, `DSPY_PYTHON`, `OPENEVOLVE_PYTHON`, `SHINKA_PYTHON` or `INSPECT_PYTHON`.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from collector.records import Call, TextEpisode, decode

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = REPOSITORY / "tests" / "tools"
DATA = REPOSITORY / "tests" / "data" / "tools"


def run_tool(
    tool: str, script: str, *arguments: str | Path, package: str | None = None, printed: str = "stderr"
) -> str:
    """Run a script of `tests/tools` where its package is installed, and return what it printed.

    Args:
        tool: its name, which is also that of the variable.
        script: the script.
        arguments: of the script.
        package: what the tool is imported as; None for its name.
        printed: where, `stderr` or `stdout`.
    """
    variable = f"{tool.upper()}_PYTHON"
    package = package or tool
    python = os.environ.get(variable) or (sys.executable if importlib.util.find_spec(package) else None)
    if python is None:
        pytest.skip(f"{package} is not installed here, and {variable} names no Python that has it")
    done = subprocess.run(
        [python, SCRIPTS / script, *arguments],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return str(getattr(done, printed))


def episodes(data: Path) -> list[TextEpisode]:
    """The iterations of the only run of a data set, read as strictly as the audit does."""
    return _records(data, "episodes.jsonl", TextEpisode)


def calls(data: Path) -> list[Call]:
    """The calls of the only run of a data set."""
    return _records(data, "calls.jsonl", Call)


def troubles(data: Path) -> list[str]:
    """What could not be recorded."""
    return [
        msgspec.json.decode(line)["trouble"]
        for path in data.rglob("troubles.jsonl")
        for line in path.read_bytes().splitlines()
    ]


def _records(data, name, kind):
    return [decode(line, kind) for path in data.rglob(name) for line in path.read_bytes().splitlines()]
