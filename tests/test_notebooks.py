"""The notebooks run from top to bottom on a fresh data set, and are stored without outputs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
DRILLDOWN = ROOT / "notebooks" / "01_salience_drilldown.ipynb"

# Jupyter's own plumbing, which no change of ours can quiet.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client.*"),
    pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning:zmq.*"),
]


def collect(folder: Path, variant: str, iterations: int) -> Path:
    """Records of one simulated run on CartPole."""
    command = [sys.executable, "-m", "collector.cli", "--env", "cartpole", "--variant", variant, "--quiet"]
    settings = ["--backend", "simulated", "--runs", "1", "--iterations", str(iterations), "--out", str(folder)]
    subprocess.run([*command, *settings], check=True, cwd=ROOT)
    return folder


def run(path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Everything that a notebook prints or shows as text, given a data set."""
    monkeypatch.setenv("SALIENCE_DATA", str(data))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(str(output.get("text") or output.get("data")) for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_the_drilldown_opens_a_strict_regression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run(DRILLDOWN, collect(tmp_path, "threetraj", 20), monkeypatch)
    assert "This is a strict salience regression:" in shown
    assert "ThreeTraj on CartPole, run 1, iteration" in shown
    assert "<mark>worst</mark>" in shown.lower()
    assert "Simulated model, personality salient" in shown
    assert "near_zero" in shown


def test_the_drilldown_says_so_where_no_regression_is_strict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # RepTraj's critic never sees the worst rollout.
    shown = run(DRILLDOWN, collect(tmp_path, "reptraj", 8), monkeypatch)
    assert "since none here is a" in shown
    assert "RepTraj on CartPole, run 1, iteration" in shown
