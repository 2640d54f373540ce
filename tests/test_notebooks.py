"""The notebooks run from top to bottom on a fresh data set, are stored without outputs, and become pages."""

from __future__ import annotations

import ast
import html
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import audit
import figures as figures_package
import stats
from figures.errors import FiguresError
from figures.page.notebooks import run_notebooks
from tests.audit.samples import SHARED, revision, write_run

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
DRILLDOWN, PATTERNS, TABLES, LOGS, CAUSES, OPTIMIZER = (path.stem for path in NOTEBOOKS)

# Jupyter's own plumbing, which no change of ours can quiet.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client.*"),
    pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning:zmq.*"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Simulated records: three methods on CartPole, two runs each."""
    folder = tmp_path_factory.mktemp("records")
    command = [
        sys.executable,
        "-c",
        "from collector.cli import main; main()",
        "--env",
        "cartpole",
        "--quiet",
        "--backend",
        "simulated",
    ]
    methods = [f"--variant={name}" for name in ("threetraj", "r2po", "props")]
    settings = ["--runs", "2", "--iterations", "15", "--out", str(folder)]
    subprocess.run([*command, *methods, *settings], check=True, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def pages(data, tmp_path_factory) -> dict[str, str]:
    """The page of every notebook, rendered on those records."""
    out = tmp_path_factory.mktemp("out")
    ran = run_notebooks(FOLDER, [data], out)
    assert [notebook.problem for notebook in ran] == [None] * len(NOTEBOOKS)
    return {Path(notebook.href).stem: (out / notebook.href).read_text() for notebook in ran}


def words(page: str) -> str:
    """What a reader of a page sees, white space aside."""
    body = re.sub(r"<style.*?</style>", "", page[page.index("<main") :], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def run(stem: str, data: Path | None, monkeypatch) -> str:
    """Everything that a notebook prints or shows as text, given a data set, or None for what it opens on by itself."""
    if data is None:
        monkeypatch.delenv("SALIENCE_DATA", raising=False)
    else:
        monkeypatch.setenv("SALIENCE_DATA", str(data))
    notebook = nbformat.read(FOLDER / f"{stem}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": FOLDER}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(str(output.get("text") or output.get("data")) for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_short_valid_and_stored_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert sum(cell.cell_type == "code" for cell in notebook.cells) <= 12
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert str(Path.home()) not in path.read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_import_public_names_only(path):
    packages = {package.__name__: package for package in (audit, stats, figures_package)}
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    tree = ast.parse("\n".join(cells).replace("%matplotlib inline", ""))
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            used |= {(alias.name, None) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            used |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            used.add((node.value.id, node.attr))
    ours = {(module, name) for module, name in used if module.partition(".")[0] in {*packages, "collector"}}
    assert ours
    private = {
        (module, name)
        for module, name in ours
        if name is not None and name not in getattr(packages.get(module), "__all__", ())
    }
    assert private | {(module, name) for module, name in ours if module not in packages} == set()


def test_the_drilldown_goes_from_the_table_to_the_sentences(pages):
    page = pages[DRILLDOWN]
    seen = words(page)
    assert "This is a strict salience regression:" in seen
    assert re.search(r"CartPole, ThreeTraj, run \d, iteration \d+ \(simulated-salient\+iterations-15\)", seen)
    [means] = re.findall(r"Mean return (\S+) before, (\S+) after", seen)
    assert float(means[1]) < float(means[0])
    assert "Simulated model, personality salient" in seen
    assert "You review policies for a control task." in seen  # the prompt
    assert re.search(r"<mark>[^<]*worst[^<]*</mark><sub>\{worst", page, re.IGNORECASE)
    assert re.search(r"reason .*delta -\d", seen)
    assert page.count("data:image/png;base64,") == 2  # the rollouts' returns, and the replays
    assert not re.search(r"Not replayed: [^{]", seen)


def test_the_drilldown_opens_on_real_answers_and_compares_those_to_one_candidate(monkeypatch):
    shown = run(DRILLDOWN, None, monkeypatch)
    assert "This is a revision among those under several conditions, since none here is a regression:" in shown
    assert "CartPole, ThreeTraj, run 2, iteration 30 (as_is)." in shown
    assert "as_is: The model was not recorded." in shown
    assert "headings: worst, median, best" in shown
    table = " ".join(re.sub(r"<[^>]*>", " ", shown.replace("\\n", " ")).split())
    assert "reversed best, median, worst True True shared" in table
    assert "unlabelled Rollout A (median), Rollout B (best), Rollout C (worst) False True shared" in table
    assert re.search(r"<b>unlabelled</b>.*?<mark>rollout C</mark><sub>\{worst 2\}</sub>", shown, re.DOTALL)
    assert "Not replayed" not in shown


def test_patterns_are_counted_weighed_and_shown(pages):
    seen = words(pages[PATTERNS])
    assert "expected_regressions" in seen
    assert "near_zero" in seen
    assert re.search(r"history-guided-rescue \d+", seen)
    assert "params[0]" in seen
    assert pages[PATTERNS].count("data:image/png;base64,") == 1


def test_the_tables_hold_published_numbers_and_tests(pages):
    seen = words(pages[TABLES])
    assert "Reference: R2PO" in seen
    assert re.search(r"CartPole \d+\.\d\d ± \d+\.\d\d \[paper 258\.09 ± 138\.58\]", seen)  # ProPS
    assert re.search(r"ours \d+\.\d\d ± \d+\.\d\d, n = 2 published 258\.09 ± 138\.58, n = 10", seen)
    assert "in the table: no verdict, simulated" in seen
    assert "numbers recomputed" in seen


def test_the_tests_of_the_table_are_scipys(pages):
    seen = words(pages[TABLES])
    baseline, t, p = re.search(r"CartPole, (\w+): t = (-?[\d.]+), p = ([\d.]+)", seen).groups()
    row = rf"cartpole {baseline.lower()} -?[\d.]+ {re.escape(t)} {re.escape(p)}"
    assert re.search(row, seen)


def test_logs_are_imported_checked_and_audited(pages):
    seen = words(pages[LOGS])
    assert "without_worst.jsonl: 9 rows imported, 0 left out" in seen
    assert (
        "without_worst cartpole threetraj-without-worst agreement no critic saw worst, median and best rollout" in seen
    )
    assert "pong 2 11 2.50 2.33 -0.17 2 surgical_backfire 2.00 2.33" in seen  # a regression, and none over fresh seeds
    assert re.search(r"Both rollouts shown are the same perfect one \( rollout 0 \{median best 0\}", seen)
    assert "cartpole.jsonl: 7 rows imported, 0 left out" in seen
    assert "line 6: initial.returns should be a list of finite numbers" in seen
    assert "no critic saw worst, median and best rollout" in seen
    assert "5 2 2 0 1.666667" in seen  # (2 regressions of 2 that cite) / (3 of 5 that do not)
    assert "0 problems in the records" in seen


def test_an_experiment_is_planned_run_and_shown(pages):
    seen = words(pages[CAUSES])
    assert re.search(r"Plan [0-9a-f]{12}: 12 units, 432 calls of simulated-label", seen)
    [effect] = re.findall(r"following the worst text XL N0h (-0\.\d+) .*? found", seen)
    assert float(effect) < -0.3  # it goes by the label, which is another rollout's
    shares = dict(re.findall(r"(best|median|worst) \d+ (\d\.\d+) \d+\.\d", seen))
    assert float(shares["worst"]) > max(float(shares["best"]), float(shares["median"]))
    assert pages[CAUSES].count("data:image/png;base64,") == 1
    assert re.search(r"A real model .*(answers of|data/real/causes holds no finished experiment)", seen)


def test_the_planted_truth_of_an_optimizer_is_beside_what_is_cited(pages):
    seen = words(pages[OPTIMIZER])
    assert "No revision of a text in these records, so what follows is about data/gepa-planted." in seen
    assert "114 revisions in 3 runs" in seen
    assert re.search(r"regression: delta -\d", seen)
    assert "{+greenhouse+}" in seen
    effects = dict(re.findall(r"(?:place|score) (first|last|worst|best) \d+ [\d.]+ [\d.]+ (-?[\d.]+) ", seen))
    assert effects.keys() == {"first", "last", "worst", "best"}
    assert float(effects["worst"]) > 0.2 > float(effects["first"])
    assert re.search(r"cites the worst False 39 13 52 True 27 35 62 All 66 48 114", seen)
    assert re.search(r"smollm2 \d+ .* smollm2-reasons \d+", seen)


@pytest.mark.parametrize("tool", ["gepa", "recorded/simba-stub"])
def test_the_notebook_of_optimizers_reads_what_tools_wrote(tool, monkeypatch):
    shown = run(OPTIMIZER, ROOT / "tests" / "data" / "tools" / tool, monkeypatch)
    assert "Items shown, in the order of display" in shown
    assert "no drivers.jsonl" in shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_named_is_found_from_the_top_of_the_project(path, tmp_path):
    """As Jupyter runs a notebook: in its own folder, whatever the folder that Jupyter was started in."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "pyproject.toml").touch()
    write_run(tmp_path / "data" / "yours", [revision([5, 9, 9], [1, 1, 1], condition="mine")])
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    source = "\n".join([cells[0], *(cell for cell in cells[1:] if "SALIENCE_DATA" in cell)])
    program = (
        "import os, sys\n"
        "for place in sys.argv[2:]:\n"
        "    os.environ['SALIENCE_DATA'] = place\n"
        "    exec(sys.argv[1], {'__name__': '__main__'})\n"
    )
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            source.replace("%matplotlib inline", ""),
            "data/yours",
            tmp_path / "data/yours",
        ],
        cwd=tmp_path / "notebooks",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("mine: ") == 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pages_need_no_network_and_run_no_script(path, pages):
    page = pages[path.stem]
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    assert str(ROOT) not in page


def test_the_same_records_give_the_same_pages(pages, data, tmp_path):
    root = tmp_path / "elsewhere"
    (root / "notebooks").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    if (ROOT / "data" / "paper").is_dir():
        (root / "data").mkdir()
        (root / "data" / "paper").symlink_to(ROOT / "data" / "paper")
    (root / "notebooks" / f"{TABLES}.ipynb").write_bytes((FOLDER / f"{TABLES}.ipynb").read_bytes())
    [again] = run_notebooks(root / "notebooks", [data], tmp_path)
    assert (tmp_path / again.href).read_text() == pages[TABLES]


@pytest.mark.slow
def test_an_answer_cannot_write_into_the_page(tmp_path):
    answer = "The worst rollout <script>alert(1)</script> & <img src=x> fell. \x1b[31m"
    episodes = [revision([5, 9, 9], [1, 1, 1], after=(1.0, 2.0, 4.0), answer=answer)]
    write_run(tmp_path / "records" / "run-01", episodes)
    ran = run_notebooks(FOLDER, [tmp_path / "records"], tmp_path)
    assert [notebook.problem for notebook in ran] == [None] * len(NOTEBOOKS)
    for notebook in ran[:2]:
        page = (tmp_path / notebook.href).read_text()
        assert "<script" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;alert(1)" in page


def test_logs_of_the_released_code_are_looked_into_as_well(tmp_path, monkeypatch):
    archive = SHARED / "r2po_logs" / "logs.tar.xz"
    if not archive.exists():
        pytest.skip("the released logs are not here")
    shown = run(DRILLDOWN, archive, monkeypatch)
    assert "This is a strict salience regression:" in shown
    assert "The records hold no prompt" in shown
    assert "Not replayed: the rollout cannot be run again: no seeds are recorded" in shown


def test_records_of_means_alone_are_looked_into_as_well(tmp_path, monkeypatch):
    row = revision([5, 9, 9], [1, 1, 1])
    for candidate in (row["initial"], row["revised"]):
        candidate.update(dict.fromkeys(("returns", "lengths", "seeds", "ended")))
    write_run(tmp_path / "records" / "run-01", [row], options={"imported_from": ["log.csv"]})
    shown = run(DRILLDOWN, tmp_path / "records", monkeypatch)
    assert "This is a regression, since none here is a strict salience regression:" in shown
    assert "headings: not recorded" in shown


def test_a_notebook_that_stops_is_named_and_the_others_are_rendered(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name, source in {"a": "1 / 0", "b": "print('fine')"}.items():
        cells = [nbformat.v4.new_markdown_cell(f"# Title {name}"), nbformat.v4.new_code_cell(source)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    (tmp_path / "out" / "notebooks").mkdir(parents=True)
    (tmp_path / "out" / "notebooks" / "a.html").write_text("of other records")
    bad, good = run_notebooks(folder, [tmp_path], tmp_path / "out")
    assert (bad.title, bad.href) == ("Title a", None)
    assert bad.problem == "a.ipynb stopped: ZeroDivisionError: division by zero"
    assert not (tmp_path / "out" / "notebooks" / "a.html").exists()
    assert "fine" in (tmp_path / "out" / good.href).read_text()


def test_without_parameters_the_notebook_of_patterns_says_so(tmp_path):
    rows = [revision([5, 9, 9], [1, 1, 1], iteration=number) for number in range(2)]
    for row in rows:
        row["initial"]["params"] = row["revised"]["params"] = None
    write_run(tmp_path / "records" / "run-01", rows, options={"imported_from": ["log.csv"]})
    (tmp_path / "pyproject.toml").touch()  # by which notebooks find the project
    (tmp_path / f"{PATTERNS}.ipynb").symlink_to(FOLDER / f"{PATTERNS}.ipynb")
    [notebook] = run_notebooks(tmp_path, [tmp_path / "records"], tmp_path / "out")
    assert "no revision in these records has parameters, so there are no edit patterns" in (notebook.problem or "")


def test_what_a_notebook_prints_and_shows_is_text(tmp_path):
    cell = "import pandas as pd\nname = 'x\\x1b[31mred\\u202e$y$<b>'\nprint(name)\npd.DataFrame({'name': [name]})"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)]), tmp_path / "a.ipynb")
    [page] = run_notebooks(tmp_path, [tmp_path], tmp_path / "out")
    outputs = re.sub(r'<div class="input">.*?</pre>', "", (tmp_path / "out" / page.href).read_text(), flags=re.DOTALL)
    assert html.unescape(outputs).count("x\\x1b[31mred\\u202e$y$<b>") == 2
    assert not set("\x1b\u202e") & set(outputs)
    assert "<b>" not in outputs


def figures(*arguments, **options):
    command = [sys.executable, "-m", "figures", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT, **options)


def test_a_notebook_that_stops_leaves_no_temporary_files(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    cell = "import tempfile; held = tempfile.TemporaryDirectory(); assert 0, held.name"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)]), tmp_path / "stops.ipynb")
    [stopped] = run_notebooks(tmp_path, [tmp_path], tmp_path / "out")
    assert str(temporary) in stopped.problem
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("text", ["not json", '{"cells": 3}', "[]", '{"nbformat": 4, "cells": [{}]}', None])
def test_what_is_no_notebook_is_refused(text, tmp_path):
    if text is not None:
        (tmp_path / "x.ipynb").write_text(text)
    with pytest.raises(FiguresError, match="holds no notebook" if text is None else r"x\.ipynb is no notebook: "):
        run_notebooks(tmp_path, [tmp_path], tmp_path)


def test_a_folder_without_notebooks_is_told_in_a_line(tmp_path):
    write_run(tmp_path / "records" / "run-01", [revision([5, 9, 9], [1, 1, 1])])
    result = figures(tmp_path / "records", "--out", tmp_path / "out", "--notebooks", tmp_path / "none")
    assert result.returncode == 1
    assert result.stderr == f"figures: {tmp_path / 'none'} holds no notebook\n"


@pytest.mark.slow
def test_without_the_extra_figures_are_drawn_and_the_want_is_told(tmp_path):
    write_run(tmp_path / "records" / "run-01", [revision([5, 9, 9], [1, 1, 1])])
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'nbconvert' else find(name, *rest)\n"
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    result = figures(tmp_path / "records", "--out", tmp_path / "out", "--notebooks", FOLDER, env=environment)
    assert result.returncode == 0, result.stderr
    assert "notebooks are left out, for want of nbconvert" in result.stderr
    assert (tmp_path / "out" / "index.html").is_file()
    assert not (tmp_path / "out" / "notebooks").exists()


def test_ctrl_c_ends_notebooks_and_their_kernels_in_a_line(tmp_path):
    write_run(tmp_path / "records" / "run-01", [revision([5, 9, 9], [1, 1, 1])])
    folder = tmp_path / "notebooks"
    folder.mkdir()
    write_pid = f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))"
    cells = [nbformat.v4.new_code_cell(f"import os, pathlib, time\n{write_pid}\ntime.sleep(600)")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "a.ipynb")
    command = [sys.executable, "-m", "figures", tmp_path / "records", "--out", tmp_path / "out", "--notebooks", folder]
    process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True, cwd=ROOT)
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    message = ["figures: 1 notebooks to run", "figures: interrupted; what was written so far stays"]
    assert (process.returncode, errors.splitlines()) == (130, message)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
