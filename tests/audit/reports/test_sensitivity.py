"""How counts of the edit patterns move with a threshold: held against `audit patterns` with that very threshold."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import zip_longest

import pytest

import audit
from audit.vocabulary.threshold_steps import VARIED
from audit.vocabulary.thresholds import presets
from tests.audit.calls import call, json_rows
from tests.audit.samples import THRESHOLDS, revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

KEYS = ["condition", "env", "variant", "threshold", "value", "in_force", "pattern", "revisions", "change"]
EIGHT = tuple(range(8))


def edited(count):
    return tuple(value + (1 if index < count else 0) for index, value in enumerate(EIGHT))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Revisions on either side of every threshold, of a task with floor 0 and of one with floor -200."""
    root = tmp_path_factory.mktemp("data")
    for env, levels in (
        ("cartpole", (5, 15, 25, 120, 180, 240, 300, 420, 470)),
        ("mountaincar", (-199, -195, -180, -150, -120)),
    ):
        records = [
            revision([r0] * 2, [r0 + delta] * 2, before=EIGHT, after=edited(changes), env=env)
            for r0 in levels
            for delta in (-9, -0.12, 0, 0.07, 9)
            for changes in (0, 2, 3, 4, 6, 8)
        ]
        write_run(root / env, [{**record, "iteration": number} for number, record in enumerate(records)])
    return root


def counts(rows):
    """Patterns and their counts, by group, threshold and value; zeros left out."""
    found = defaultdict(Counter)
    for row in rows:
        found[row["env"], row["threshold"], row["value"], row["in_force"]] += Counter(
            {row["pattern"]: row["revisions"]}
        )
    return found


def patterns(data, *options):
    """Patterns and their counts, by task."""
    found = defaultdict(Counter)
    for row in json_rows("patterns", data, *options):
        found[row["env"]][row["pattern"]] = row["revisions"]
    return found


def test_each_value_gives_what_the_patterns_give_with_that_threshold_set(data):
    found = counts(json_rows("sensitivity", data))
    some = [key for number, key in enumerate(sorted(found)) if number % 3 == 0]
    assert len(some) > 20
    # A setting concerns one task alone: those of two tasks are tried together.
    tasks = ([key for key in some if key[0] == env] for env in ("cartpole", "mountaincar"))
    for pair in zip_longest(*tasks):
        tried = [key for key in pair if key is not None]
        settings = [f"--set={env}.{name}={value}" for env, name, value, in_force in tried if not in_force]
        given = patterns(data, *settings)
        for key in tried:
            assert found[key] == given[key[0]], key


def test_values_in_force_are_those_of_the_task(data):
    rows = [row for row in json_rows("sensitivity", data) if row["in_force"]]
    assert list(rows[0]) == KEYS
    assert {row["change"] for row in rows} == {0}
    assert {(row["env"], row["threshold"]): row["value"] for row in rows} == {
        (env, name): presets()[env][name] for env in ("cartpole", "mountaincar") for name in VARIED
    }


@pytest.mark.parametrize(
    ("options", "env", "values"),
    [
        ([], "cartpole", {
            "partial": [100, 150, 200, 250, 300],
            "high": [225, 337.5, 450, 562.5, 675],
            "near_zero": [10, 15, 20, 25, 30],
            # 1.5, 2.25, 3, 3.75 and 4.5; 2, 3, 4, 5 and 6; 4, 6, 8, 10 and 12.
            "surgical_max": [2, 3, 4, 5],
            "multi_state_min": [2, 3, 4, 5, 6],
            "redesign_min": [4, 6, 8, 10, 12],
        }),
        # From the floor -200: partial -170 is 30 above it, high -124 is 76 above it.
        ([], "mountaincar", {
            "partial": [-185, -177.5, -170, -162.5, -155],
            "high": [-162, -143, -124, -105, -86],
            "near_zero": [2, 3, 4, 5, 6],
        }),
        (["--steps", 2, "--spread", 1], "cartpole", {"partial": [0, 200, 400], "surgical_max": [0, 3, 6]}),
        (["--vary", "cartpole.high=460,440", "--vary", "cartpole.floor=1"], "cartpole", {
            "high": [440, 450, 460], "floor": [0, 1], "partial": [],
        }),
        (["--set", "cartpole.high=400", "--vary", "cartpole.high=400,450"], "cartpole", {"high": [400, 450]}),
    ],
)  # fmt: skip
def test_the_values_tried(data, options, env, values):
    rows = [row for row in json_rows("sensitivity", data, *options) if row["env"] == env]
    for name, wanted in values.items():
        assert sorted({row["value"] for row in rows if row["threshold"] == name}) == pytest.approx(wanted), name


def test_a_change_by_hand(tmp_path):
    """Of three losses of 50 at 460, 440 and 420, all of five parameters, so many are breaks as lie above `high`."""
    rows = [revision([r0] * 2, [r0 - 50] * 2, before=EIGHT, after=edited(5), iteration=r0) for r0 in (420, 440, 460)]
    write_run(tmp_path, rows)
    found = json_rows("sensitivity", tmp_path, "--vary", "cartpole.high=410,430,470")
    breaks = {
        row["value"]: (row["revisions"], row["change"]) for row in found if row["pattern"] == "near_optimal_break"
    }
    assert breaks == {410: (3, 2), 430: (2, 1), 450: (1, 0), 470: (0, -1)}


def test_runs_with_thresholds_of_their_own_are_counted_by_them(tmp_path):
    """One run calls 460 near the optimum, the other does not; at any other value both are judged alike."""
    rows = [revision([460] * 2, [400] * 2, before=EIGHT, after=edited(6))]
    for run_number, high in ((1, 450.0), (2, 470.0)):
        own = {**THRESHOLDS, "high": high}
        write_run(tmp_path / str(run_number), [{**row, "run": run_number} for row in rows], thresholds=own)
    found = json_rows("sensitivity", tmp_path, "--vary", "cartpole.high=450,455,465")
    breaks = {
        row["value"]: (row["in_force"], row["revisions"]) for row in found if row["pattern"] == "near_optimal_break"
    }
    assert breaks == {None: (True, 1), 450: (False, 2), 455: (False, 2), 465: (False, 0)}


def test_the_relation_is_there_for_sql_too(data):
    with audit.open(data) as store:
        assert store.violations("moved_thresholds_only_sort_revisions_otherwise") == []
        assert store.violations("thresholds_in_force_give_the_patterns") == []
        assert len(store.sensitivity) == len(json_rows("sensitivity", data))


def test_the_table_has_a_row_for_each_value_and_marks_the_one_in_force(data):
    result = call("sensitivity", data, "--vary", "cartpole.high=460,100", "--env", "cartpole")
    lines = [line.split() for line in result.stdout.splitlines()]
    values = [line[1:3] for line in lines if line[:1] == ["high"]]
    assert [value for value, *_ in values] == ["100", "450", "460"]
    assert [mark == "*" for _, mark in values] == [False, True, False]
    assert "(+" in result.stdout


def test_values_that_make_no_sense_are_refused_in_one_line(data):
    wrong = [("--steps", 1), ("--steps", 100000), *(("--spread", value) for value in (0, 1.5, "nan"))]
    wrong += [
        ("--vary", f"cartpole.{each}") for each in ("high", "high=", "high=1,tall", "height=1", "surgical_max=1.5")
    ]
    for option, value in (*wrong, ("--vary", "chess.high=1"), ("--vary", "high=1"), ("--set", "cartpole.high")):
        result = call("sensitivity", data, option, value)
        assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1), (option, value)
        assert result.stderr.startswith(f"audit: {option}")
