"""`audit sample`: what is drawn, what a coder is told, and what not."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.escaping import cell
from audit.validation.coding.sampling import draw, shares, shuffled
from audit.vocabulary.keys import RevisionKey
from tests.audit.samples import candidate, episode, revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

CODES = ["mentions_worst", "mentions_median", "mentions_best", "discounts_worst", "driver", "note"]
SHOWN = [
    {"label": label, "rollout": rollout, "return": value, "length": 10}
    for label, rollout, value in (("worst", 0, 1.0), ("median", 1, 5.25), ("best", 2, 9.0))
]


def sheet(*arguments):
    """The rows of a sheet, and standard error."""
    result = CliRunner().invoke(app, ["sample", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout, newline=""))), result.stderr


def identity(row):
    return row["condition"], row["env"], row["variant"], int(row["run"]), int(row["iteration"])


def write_data(root, *, outcomes=(2.0, 6.0, 5.0), answer="The worst rollout fell.", **changes):
    """Thirty revisions of two runs: in turn a regression, an improvement, and no change."""
    evidence = {"kind": "three", "shown": SHOWN, "statistics": None}
    for run in (1, 2):
        rows = [
            revision(
                *([1, 5.25, 9], [outcomes[i % 3]] * 3) if i % 3 < 2 else ([5, 5, 5], [5, 5, 5]),
                after=(1.0, 2.5, -3.0),
                answer=f"{answer} Answer {run}-{i}.",
                iteration=i,
                run=run,
                evidence=evidence,
                **changes,
            )
            for i in range(15)
        ]
        write_run(root / f"run-{run}", rows)
    return root


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("sampled") / "data")


def direction_of(row):
    return ("regression", "improvement", "no_change")[int(row["iteration"]) % 3]


class TestTheSheet:
    def test_columns_and_a_row_by_hand(self, data):
        rows, _ = sheet(data, "--n", 30)
        identity_of = ["condition", "env", "variant", "run", "iteration", "coder"]
        assert list(rows[0]) == [*identity_of, *CODES, "rollouts", "changes", "answer", "drawn_by"]
        assert ", ".join(list(rows[0])[:12]) in (Path(__file__).parents[3] / "docs" / "coding-guide.md").read_text()
        row = next(row for row in rows if identity(row) == ("hand", "cartpole", "threetraj", 2, 4))
        assert [row[code] for code in CODES] == [""] * 6
        assert row["rollouts"].splitlines() == [
            "worst: rollout 0, return 1, length 10",
            "median: rollout 1, return 5.25, length 10",
            "best: rollout 2, return 9, length 10",
        ]
        assert row["changes"].splitlines() == ["params[1]: 2 -> 2.5", "params[2]: 3 -> -3"]
        assert row["answer"] == "The worst rollout fell. Answer 2-4."

    def test_a_critic_that_saw_one_rollout_can_still_speak_of_the_others(self, tmp_path):
        statistics = {"returns": {"mean": 5.0, "min": 1.0, "max": 9.0}, "successes": 0, "rollouts": 3}
        statistics["lengths"] = {"mean": 10.0, "min": 10.0, "max": 10.0}
        evidence = {"kind": "median", "shown": SHOWN[1:2], "statistics": statistics}
        row = revision([1, 5.25, 9], [2, 2, 2], variant="r2po", evidence=evidence)
        write_run(tmp_path / "data", [row])
        [row], _ = sheet(tmp_path / "data")
        assert row["changes"] == "nothing"
        assert row["rollouts"].splitlines() == [
            "median: rollout 1, return 5.25, length 10",
            "worst (not shown): rollout 0, return 1, length 10",
            "best (not shown): rollout 2, return 9, length 10",
            "all returns: mean 5, min 1, max 9",
            "all lengths: mean 10, min 10, max 10",
            "successes: 0",
            "rollouts: 3",
        ]

    def test_each_coder_has_a_row_per_answer_in_an_order_of_their_own(self, data):
        rows, _ = sheet(data, "--n", 20, "--coders", "Ada, Bo")
        ada, bo = ([identity(row) for row in rows if row["coder"] == name] for name in ("Ada", "Bo"))
        assert len(ada) == len(bo) == 20
        assert sorted(ada) == sorted(bo)
        assert ada != bo
        assert ada != sorted(ada)

    def test_only_answers_of_a_critic_are_drawn(self, tmp_path):
        second_search = episode(candidate([1, 2, 3]), candidate([2, 2, 2]), variant="puresearch", evidence=None)
        write_run(tmp_path / "a", [second_search])
        write_run(tmp_path / "b", [revision([1, 2, 3], [2, 2, 2]), episode(candidate([1, 2, 3]), iteration=1)])
        rows, told = sheet(tmp_path)
        assert [identity(row) for row in rows] == [("hand", "cartpole", "threetraj", 1, 0)]
        assert "only 1 revision to draw from" in told
        nothing = CliRunner().invoke(app, ["sample", str(tmp_path / "a")])
        assert (nothing.exit_code, nothing.stderr) == (1, "audit: no revision that a critic answered for\n")


@pytest.fixture(scope="module")
def gained(tmp_path_factory):
    """Records whose revisions gain and lose more or less."""
    root = tmp_path_factory.mktemp("gained")
    return [write_data(root / name, outcomes=outcomes) for name, outcomes in (("a", (2.0, 6.0)), ("b", (4.0, 8.5)))]


class TestBlind:
    @pytest.mark.parametrize("options", [(), ("--stratify", "direction"), ("--stratify", "pattern")])
    def test_a_sheet_does_not_depend_on_how_much_was_gained(self, gained, options):
        sheets = [CliRunner().invoke(app, ["sample", str(data), "--n", "12", *options]) for data in gained]
        assert len(sheets[0].stdout.splitlines()) > 12
        assert sheets[0].stdout == sheets[1].stdout

    def test_without_strata_it_does_not_even_depend_on_the_direction(self, tmp_path):
        sheets = [
            sheet(write_data(tmp_path / str(outcomes), outcomes=outcomes)) for outcomes in ((2.0, 6.0), (6.0, 2.0))
        ]
        assert sheets[0] == sheets[1]

    def test_outcomes_are_told_on_request(self, data):
        rows, _ = sheet(data, "--n", 30, "--with-outcome")
        for row in rows:
            assert row["direction"] == direction_of(row)
            assert float(row["delta"]) == pytest.approx(float(row["r1"]) - float(row["r0"]))
        plain, _ = sheet(data, "--n", 30)
        assert plain == [{key: value for key, value in row.items() if key in plain[0]} for row in rows]

    def test_no_place_in_the_sheet_is_likelier_for_a_stratum(self):
        strata = {
            ("few",): [RevisionKey("c", "e", "v", 1, i) for i in range(10)],
            ("many",): [RevisionKey("c", "e", "v", 1, i) for i in range(10, 200)],
        }
        places = Counter()
        for seed in range(400):
            order = shuffled(draw(strata, 20, seed), "A", seed)
            places.update(place for place, each in enumerate(order) if each.iteration < 10)
        assert sum(places.values()) == 4000
        # 200 are expected at each of 20 places; the standard deviation is sqrt(400 x 1/4) = 10.
        assert all(abs(places[place] - 200) < 45 for place in range(20))


class TestTheDraw:
    def test_it_depends_on_the_seed_and_not_on_the_order_of_files(self, tmp_path):
        data = write_data(tmp_path / "data")
        first, _ = sheet(data, "--n", 7)
        assert first == sheet(data, "--n", 7)[0]
        assert first == sheet(data / "run-2", data / "run-1", "--n", 7)[0]
        moved = tmp_path / "moved"
        moved.mkdir()
        for number, name in enumerate(("run-2", "run-1")):
            (data / name).rename(moved / f"x{number}")
        assert first == sheet(moved, "--n", 7)[0]
        assert first != sheet(moved, "--n", 7, "--seed", 1)[0]

    def test_strata_have_equal_shares_and_what_is_left_over_goes_to_the_larger(self, data):
        rows, told = sheet(data, "--n", 12, "--stratify", "direction")
        assert Counter(map(direction_of, rows)) == {"regression": 4, "improvement": 4, "no_change": 4}
        assert {row["drawn_by"] for row in rows} == {"direction"}
        assert "audit validate --stratify direction" in told
        crossed, _ = sheet(data, "--n", 4, "--stratify", "direction", "--stratify", "structure", "--stratify", "env")
        assert {row["drawn_by"] for row in crossed} == {"direction structure env"}

    @pytest.mark.parametrize(
        ("sizes", "sample", "expected"),
        [
            ({"a": 50, "b": 50, "c": 60}, 100, {"a": 33, "b": 33, "c": 34}),
            ({"a": 5, "b": 50, "c": 60}, 100, {"a": 5, "b": 47, "c": 48}),
            ({"a": 5, "b": 20, "c": 90}, 100, {"a": 5, "b": 20, "c": 75}),
            ({"a": 5, "b": 20}, 100, {"a": 5, "b": 20}),
            ({"a": 5, "b": 20, "c": 9}, 2, {"a": 0, "b": 1, "c": 1}),
        ],
    )
    def test_shares(self, sizes, sample, expected):
        named = {(name,): size for name, size in sizes.items()}
        assert shares(named, sample) == {(name,): share for name, share in expected.items()}

    def test_a_small_stratum_is_taken_whole_and_said(self, tmp_path):
        write_data(tmp_path / "a")
        write_run(tmp_path / "b", [revision([1, 2, 3], [2, 2, 2], env="pong")])
        rows, told = sheet(tmp_path, "--n", 10, "--stratify", "env")
        assert Counter(row["env"] for row in rows) == {"cartpole": 9, "pong": 1}
        assert "env pong: all of 1 revision, which is less than an equal share" in told

    def test_each_revision_of_a_stratum_is_equally_likely_and_a_larger_sample_holds_a_smaller(self):
        members = [RevisionKey("c", "e", "v", 1, i) for i in range(10)]
        drawn = Counter(each for seed in range(1000) for each in draw({(): members}, 3, seed))
        # 300 are expected of each; the standard deviation is sqrt(1000 x 0.3 x 0.7) = 14.5.
        assert all(abs(drawn[each] - 300) < 60 for each in members)
        for size in range(1, 10):
            assert set(draw({(): members}, size, 4)) < set(draw({(): members[::-1]}, size + 1, 4))

    def test_filters_come_first(self, tmp_path):
        write_data(tmp_path / "a")
        write_run(tmp_path / "b", [revision([1, 2, 3], [2, 2, 2], env="pong")])
        assert {row["env"] for row in sheet(tmp_path, "--env", "pong")[0]} == {"pong"}
        absent = CliRunner().invoke(app, ["sample", str(tmp_path), "--env", "maze"])
        assert absent.exit_code == 1
        assert "no env maze in the records" in absent.stderr


class TestHostileText:
    def test_no_cell_is_a_formula(self, tmp_path):
        texts = (
            *("=HYPERLINK(1)", "+A1", "-1+cmd|' /C calc'!A0", "@SUM(1)"),
            *(" \t=1", "\n=1", "'=1", "\uff1d1", "\r\n=1"),
        )
        revisions = [revision([1, 2, 3], [2, 2, 2], answer=text, iteration=i) for i, text in enumerate(texts)]
        rows, _ = sheet(write_run(tmp_path, revisions))
        assert len(rows) == len(texts)
        assert [texts[int(row["iteration"])] for row in rows if not row["answer"].startswith("'")] == []
        assert not any(value.lstrip()[:1] in tuple("=+-@") for row in rows for value in row.values() if value)

    def test_other_text_stays_and_control_characters_are_spelled_out(self, tmp_path):
        texts = ("plain", "a = 1", "1 - 2", "", "'quoted'", "τ", "-0.59", "+1")
        assert tuple(map(cell, texts)) == texts
        answer = 'a "quoted", bell \x07, escape \x1b[2J\r\nnext line\n\u202eturned'
        [row], _ = sheet(write_run(tmp_path, [revision([1, 2, 3], [2, 2, 2], answer=answer)]))
        assert row["answer"] == 'a "quoted", bell \\x07, escape \\x1b[2J\nnext line\n\\u202eturned'

    def test_long_answers_are_said(self, tmp_path):
        [row], told = sheet(write_run(tmp_path, [revision([1, 2, 3], [2, 2, 2], answer="a" * 40_000)]))
        assert row["answer"] == "a" * 40_000
        assert "1 answer of more than 32,767 characters" in told


def test_wrong_options_are_refused(data):
    for options, message in (
        (("--stratify", "delta"), "--stratify"),
        (("--coders", "A,,B"), "--coders takes different names"),
        (("--coders", "A,A"), "--coders takes different names"),
    ):
        result = CliRunner().invoke(app, ["sample", str(data), *options])
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr


def test_a_rollout_shown_under_another_heading_is_listed_with_it(tmp_path):
    evidence = {"kind": "three", "shown": [{**SHOWN[0], "name": "Rollout B"}, *SHOWN[1:]], "statistics": None}
    write_run(tmp_path, [revision([1, 5.25, 9], [2, 2, 2], evidence=evidence)])
    [row], _ = sheet(tmp_path, "--coders", "A")
    assert row["rollouts"].splitlines()[0] == "worst (called Rollout B): rollout 0, return 1, length 10"


def test_answers_of_every_tool_can_be_coded():
    for tool in ("openevolve", "shinka"):
        rows, _ = sheet(Path(__file__).resolve().parents[2] / "data" / "tools" / tool, "--n", 2)
        assert rows
        assert all(row["answer"] for row in rows), tool


def test_simulated_answers_are_marked(tmp_path):
    write_run(tmp_path, [revision([1, 2, 3], [2, 2, 2])], backend="simulated")
    assert "Backend: simulated" in sheet(tmp_path)[1]
