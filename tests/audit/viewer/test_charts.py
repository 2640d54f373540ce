"""Learning curves and means against the records."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import pytest

from audit.store import rows_of
from audit.viewer import charts
from audit.viewer.pages import about
from audit.vocabulary.colours import method_colour
from tests.audit.viewer.records import METHODS, open_session, write_records

CELL = ("condition", "env", "variant")


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return write_records(tmp_path_factory.mktemp("records"))


@pytest.fixture(scope="module")
def session(records):
    with open_session(records) as opened:
        yield opened


def best_so_far(session):
    found = defaultdict(list)
    for row in sorted(rows_of(session.store.relation("iterations")), key=lambda row: row["iteration"]):
        found[*(row[name] for name in CELL), row["run"]].append(row["best_so_far"])
    return found


def test_curves_of_short_runs_have_every_iteration(session):
    expected = best_so_far(session)
    found = charts.curves(session)["runs"]
    assert {(*(row[name] for name in CELL), row["run"]): row["best"] for row in found} == expected
    assert all(row["iterations"] == list(range(8)) for row in found)


def test_means_are_those_of_all_runs_and_long_curves_are_thinned_but_for_their_end(records, monkeypatch):
    monkeypatch.setattr(charts, "RUNS", 1)
    with open_session(records) as fresh:
        runs = best_so_far(fresh)
        found = charts.curves(fresh)
    assert {row["run"] for row in found["runs"]} == {1}
    for row in found["means"]:
        mine = [values for key, values in runs.items() if key[:3] == tuple(row[name] for name in CELL)]
        assert row["runs"] == len(mine) == 3
        assert row["mean"] == pytest.approx([fmean(values) for values in zip(*mine, strict=True)])
    monkeypatch.setattr(charts, "POINTS", 3)
    with open_session(records) as fresh:
        found = charts.curves(fresh)
    for row in [*found["runs"], *found["means"]]:
        assert len(row["iterations"]) <= 5
        assert row["iterations"][-1] == 7
        assert row["iterations"] == sorted(row["iterations"])


def test_means_of_runs_with_other_iterations_take_the_best_so_far_of_all(tmp_path):
    folder = write_records(tmp_path)
    for path in folder.glob("*-2/episodes.jsonl"):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(line for place, line in enumerate(lines) if place not in {2, 3, 5}), encoding="utf-8")
    with open_session(folder) as session:
        runs = best_so_far(session)
        assert {len(values) for values in runs.values()} == {5, 8}
        for row in charts.curves(session)["means"]:
            mine = [values for key, values in runs.items() if key[:3] == tuple(row[name] for name in CELL)]
            # The second run keeps its best where it has no iteration.
            whole = [[values[at] for at in (0, 1, 1, 1, 2, 2, 3, 4)] if len(values) == 5 else values for values in mine]
            assert row["runs"] == 3
            assert row["iterations"] == list(range(8))
            assert row["mean"] == pytest.approx([fmean(values) for values in zip(*whole, strict=True)])
    for run, kept in ((1, range(3)), (2, range(4, 5))):  # without a common iteration there is no mean
        for path in folder.glob(f"*-{run}/episodes.jsonl"):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            path.write_text("".join(lines[place] for place in kept), encoding="utf-8")
    with open_session(folder) as session:
        assert charts.curves(session)["means"] == []


def test_the_options_of_the_command_restrict_curves(tmp_path):
    with open_session(write_records(tmp_path, runs=1, iterations=4), env=["pong"], variant=["threetraj"]) as opened:
        found = charts.curves(opened)
        assert {(row["env"], row["variant"]) for row in found["runs"]} == {("pong", "threetraj")}


def test_every_method_has_its_colour_in_the_figures(session):
    assert about(session)["colours"]["methods"] == {name: method_colour(name) for name in METHODS}
