"""A user's detector, and another item than the worst, through every command; the counts are worked out by hand."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from tests.audit.samples import candidate, episode, revision, write_run
from tests.audit.texts import text_revision, text_run

SHOWN = [
    {"label": label, "rollout": rollout, "return": value, "length": 10, "name": name}
    for label, rollout, value, name in (
        ("median", 1, 5.0, "Rollout A"),
        ("worst", 0, 1.0, "Rollout B"),
        ("best", 2, 9.0, "Rollout C"),
    )
]
REVISIONS = [
    # returns after, answer
    ([2, 2, 2], "The worst rollout fell, I think."),
    ([2, 2, 2], "In rollout A the pole drifts."),
    ([6, 6, 6], "Rollout C shows what to copy; rollout A drifts."),
    ([6, 6, 6], "The bias is too large."),
    ([5, 5, 5], "The last rollout Fell."),
]
pytestmark = pytest.mark.usefixtures("opened_once")
PURE = {"variant": "puresearch", "evidence": None}
LABELLED = dict.fromkeys(("mentions_worst", "mentions_median", "mentions_best", "discounts_worst"), "0")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two runs, which no test changes."""
    return write_data(tmp_path_factory.mktemp("detectors") / "data")


def write_data(folder):
    for run in (1, 2):
        made = [
            revision([1, 5, 9], after, after=(1, 2.5, 3), answer=answer, iteration=number, run=run)
            for number, (after, answer) in enumerate(REVISIONS)
        ]
        rows = [{**row, "evidence": {"kind": "three", "shown": SHOWN, "statistics": None}} for row in made]
        write_run(folder / f"run-{run:02d}", rows, run=run)
    return folder


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def rows(*arguments):
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def cited(data, *options):
    found = rows("revisions", data, "--run", 1, *options)
    assert len({row["about"] for row in found if row["about"]}) <= 1
    return [row["cites"] for row in found]


def referred(data, about, answers=5):
    """Which answers of the first run cite an item, by the audit's own detector; None where nobody saw the item."""
    with audit.open([data], detector="resolved", about=about) as store:
        found = {row["iteration"]: row for row in store.rows("references") if row["run"] == 1}
    assert {row["about"] for row in found.values()} <= {about}
    return [found[number]["cites"] if number in found else None for number in range(answers)]


def test_references_to_any_item_of_the_evidence(data):
    expected = {
        "worst": [True, False, False, False, False],
        "median": [False, True, True, False, False],
        "best": [False, False, True, False, True],
        "first": [False, True, True, False, False],
        "last": [False, False, True, False, True],
        "label:rollout b": [True, False, False, False, False],
        "label:median": [False, True, True, False, False],
        "2": [False, False, True, False, True],
        "label:nobody": [None] * 5,
        "nobody": [None] * 5,
    }
    assert {about: referred(data, about) for about in expected} == expected
    for about in ("last", "nobody"):
        assert cited(data, "--detector", "resolved", "--about", about) == expected[about]


def test_the_published_columns_are_of_the_worst_alone(data):
    worst, best = (rows("revisions", data, "--detector", "resolved", "--about", about) for about in ("worst", "best"))
    assert [row["references_worst"] for row in worst] == [row["cites"] for row in worst]
    assert {row["references_worst"] for row in best} == {row["strict"] for row in best} == {None}
    [row] = rows("salience", data, "--detector", "resolved", "--about", "best")
    assert (row["about"], row["strict"], row["permissive"], row["citing_improvements_pct"]) == ("best", None, None, 50)
    [usual] = rows("salience", data)
    assert (usual["about"], usual["detector"], usual["strict"], usual["permissive"]) == ("worst", "word", 2, 2)


def test_an_item_that_no_evidence_has_is_named(data):
    result = run("salience", data, "--detector", "resolved", "--about", "bset")
    assert result.exit_code == 0
    assert "no evidence here has item bset" in result.stderr


FELL = "pattern = ['fell', 'bias']\nflags = 'i'"
FIND = "def detect(answer, evidence):\n    at = answer.find('ell')\n    return [(at, at + 3)] if at > 0 else []"
RESOLVE = "import audit\ndef detect(answer, evidence):\n    return audit.resolve(answer, evidence)"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("falls.toml", "pattern = 'fell'", [True, False, False, False, False]),
        ("line.toml", "pattern = '^In'\n", [False, True, False, False, False]),
        ("seen.py", RESOLVE, [True, False, False, False, False]),
    ],
)
def test_a_users_detector_is_asked_about_every_answer(name, text, expected, data, write):
    assert cited(data, "--detector", write(name, text)) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("either.toml", FELL, [True, False, False, True, True]),
        ("found.py", FIND, [True, False, False, False, True]),
    ],
)
def test_a_users_detector_gets_what_the_audits_own_have(name, text, expected, data, write):
    options = ("--detector", write(name, text))
    name = name.partition(".")[0]
    assert cited(data, *options) == expected
    regressions = sum(expected[:2])
    [row] = rows("salience", data, *options)
    assert (row["detector"], row["strict"]) == (name, 2 * regressions)
    [row] = rows("rates", data, *options)
    assert (row["citing_regressions"], row["citing_improvements"]) == (2 * regressions, 2 * sum(expected[2:4]))
    [row] = rows("noise", data, *options)
    assert (row["strict"], row["citing_regressions"]) == (2 * regressions, 2 * regressions)
    assert sum(row["citing"] for row in rows("severity", data, *options)) == 2 * sum(expected)
    found = rows("find", data, "--where", "cites", *options)
    assert len(found) == 2 * sum(expected)
    assert all(f"--detector={options[1]}" in row["show"] for row in found)
    text = run("show", data, "cartpole", "threetraj", 1, 0, *options).stdout
    assert f"{'refers' if expected[0] else 'does not refer'} to the worst rollout (detector {name})" in text
    [row] = rows("sql", data, f"select count_if(cites) as n from \"references\" where detector = '{name}'", *options)
    assert row["n"] == 2 * sum(expected)


def test_a_function_is_asked_about_any_item(data, write):
    path = write("seen.py", "import audit\ndetect = audit.resolve\n")
    assert cited(data, "--detector", path, "--about", "best") == [False, False, True, False, True]
    table = audit.rates(data, detector=str(path), about="first")
    assert "the first item shown, detector seen" in table.title


def test_a_question_of_its_own_is_of_no_item(data, write):
    path = write("bias.toml", "about = 'own'\npattern = 'bias'")
    [row] = rows("salience", data, "--detector", path)
    assert (row["about"], row["strict"], row["citing_improvements_pct"]) == ("own", None, 50)


def test_a_function_that_fails_names_the_answer(data, write):
    path = write("broken.py", "def detect(answer, evidence):\n    return [(0, 1 // ('bias' not in answer))]\n")
    result = run("salience", data, "--detector", path)
    assert result.exit_code == 1
    assert result.stdout == ""
    # Which of the answers with the word comes first is open.
    assert re.fullmatch(
        r"audit: detector broken fails on hand cartpole threetraj run \d iteration \d, line 2 of broken.py: "
        r"ZeroDivisionError: integer division or modulo by zero\n",
        result.stderr,
    )
    for name, returned, message in (
        ("pair", "['x']", "neither an audit.Mention nor a pair of offsets"),
        ("place", "[(0, 10**6)]", "not within an answer"),
        ("none", "None", "TypeError"),
    ):
        path = write(f"{name}.py", f"def detect(answer, evidence):\n    return {returned}\n")
        result = run("salience", data, "--detector", path)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert message in result.stderr


def sheet(data, path, **codes):
    """A sheet for a detector, filled in with the same codes for every answer."""
    drawn = run("sample", data, "--n", 5, "--detector", path)
    assert drawn.exit_code == 0, drawn.stderr
    filled = [{**row, **LABELLED, "driver": "worst", **codes} for row in csv.DictReader(io.StringIO(drawn.stdout))]
    labels = path.parent / "labels.csv"
    with labels.open("w", newline="") as file:
        writer = csv.DictWriter(file, filled[0])
        writer.writeheader()
        writer.writerows(filled)
    return labels, filled


def test_a_users_detector_is_held_against_people(data, write):
    path = write("Bias.toml", "about = 'own'\npattern = 'bias'")
    labels, filled = sheet(data, path, Bias="1")
    scored = [row for row in rows("validate", labels, data, "--detector", path, "--bootstrap", 100) if row["n"]]
    [mine] = [row for row in scored if row["detector"] == "Bias"]
    found = sum("bias" in row["answer"] for row in filled)
    assert (mine["column"], mine["tp"], mine["fn"], mine["fp"]) == ("Bias", found, 5 - found, 0)
    path = write("falls.toml", "pattern = 'fell'\nflags = 'i'")
    labels, filled = sheet(data, path)
    found = sum("fell" in row["answer"].lower() for row in filled)
    wrong = rows("validate", labels, data, "--detector", path, "--disagreements")
    mine = [row for row in wrong if row["detector"] == "falls"]
    assert len(mine) == found
    assert {row["text"].lower() for row in mine} <= {"fell"}


def test_an_example_of_a_batch_is_asked_about_by_place_heading_and_id(tmp_path):
    scores = [1.0, 0.0, 0.5]
    shown = [
        {"label": "item", "rollout": place, "return": scores[place], "name": f"Example {number}"}
        for number, place in enumerate((2, 1, 0), start=1)
    ]
    answers = ("Example 1 is vague.", "Example 2 has no label.", "The last example is right.", "Be brief.")
    ids = {"example_ids": ["a", "b", "7"]}
    records = [
        text_revision(scores, [0.0] * 3, answer=answer, iteration=place, evidence={"kind": "batch", "shown": shown})
        for place, answer in enumerate(answers)
    ]
    episodes = [row | {"initial": row["initial"] | ids, "revised": row["revised"] | ids} for row in records]
    write_run(tmp_path / "gepa", episodes, **text_run())
    for about, expected in {
        "worst": [False, True, False, False],
        "best": [False, False, True, False],
        "first": [True, False, False, False],
        "last": [False, False, True, False],
        "label:example 2": [False, True, False, False],
        "b": [False, True, False, False],
        "7": [True, False, False, False],
        "2": [None] * 4,
    }.items():
        assert referred(tmp_path / "gepa", about, 4) == expected, about


def test_revisions_that_cite_are_compared_with_a_control_that_starts_as_well(write, tmp_path):
    data = write_data(tmp_path / "data")
    for number in (1, 2):
        rows_of_run = [
            episode(candidate([1, 5, 9]), candidate(after, source="search"), iteration=place, run=number, **PURE)
            for place, after in enumerate(([2, 2, 2], [6, 6, 6], [6, 6, 6], [6, 6, 6]))
        ]
        write_run(data / f"pure-{number:02d}", rows_of_run, run=number)
    found = rows("controls", data, "--detector", write("falls.toml", "pattern = 'fell|shows'"))
    matched = next(row for row in found if row["start"] == "matched")
    assert (matched["revisions"], matched["regressions"], matched["control_regressions_pct"]) == (10, 4, 25.0)
    assert (matched["citing"], matched["citing_regressions"], matched["citing_regressions_pct"]) == (4, 2, 50.0)
    assert (matched["difference_pct"], matched["citing_difference_pct"]) == (15.0, 25.0)
    none = rows("controls", data, "--detector", write("none.toml", "pattern = 'nobody says this'"))
    assert [(row["citing"], row["citing_difference_pct"], row["citing_difference_pct_low"]) for row in none] == [
        (0, None, None)
    ] * len(none)
    assert [row["difference_pct_low"] for row in none] == [row["difference_pct_low"] for row in found]
