"""Several plans in one report: what users are shown of each critic, and in what it differs from the first."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

import audit
from audit.interventions.effects.named_shares import FOLLOWED, SHARES, STIMULI
from audit.interventions.effects.results import MOVES, NOT_ASKED, Ceiling, Share
from audit.interventions.plan import read_plan
from audit.interventions.report import EARLIER, read_report
from audit.interventions.sentences import cell, moving
from audit.interventions.side_by_side import COLUMNS, _explained, headings
from tests.audit.interventions.planned import answers_of, arms, lines, one_line, plan, recorded
from tests.audit.interventions.planned import audit as command

NONE = [f"{arm}=0" for arm in ("N0", "N0h", "XL", "XP", "P1")]
SHORT = arms(*NONE, "A0=2", "C=6", "S_w=6", "S_m=6", "S_b=6", "E0=4")
CRITICS = ("label-silent", "uniform", "typical")
NAMES = (*SHARES, *STIMULI)


def finished(data, folder, critic, *options, name=None) -> Path:
    """A finished experiment with a critic."""
    path = folder / f"{name or critic}.json"
    plan(data, path, *options, "--personality", critic)
    result = command("intervene", "run", path)
    assert result.exit_code == 0, result.stderr
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("several")


@pytest.fixture(scope="module")
def plans(records, folder):
    return [finished(records, folder, critic, "--units", 5, *SHORT) for critic in CRITICS]


@pytest.fixture(scope="module")
def unasked(records, folder):
    """A plan whose arms have no shares."""
    return finished(records, folder, "uniform", "--units", 2, "--seed", 1, *arms("C=0", "P1=0"), name="unasked")


@pytest.fixture
def copies(plans, tmp_path):
    """Two of the experiments, which may be changed; their records are not there."""
    for path in plans[:2]:
        shutil.copy(path, tmp_path)
        shutil.copy(answers_of(path), tmp_path)
    return [tmp_path / path.name for path in plans[:2]]


def report(*given):
    return command("intervene", "report", *given)


def printed(*given):
    result = report(*given)
    assert result.exit_code == 0, result.stderr
    assert "nan" not in result.stdout
    return result.stdout


def column(text, heading):
    """The cells of a plan's column by share."""
    table = text[text.index("\nShares of revisions\n") :].split("\n\n")[0].splitlines()[2:]
    start = table[0].index(heading) if heading in table[0] else None
    assert start is not None
    gaps = [match.end() for match in re.finditer(r" {2,}", table[0]) if match.end() > start]
    return {row[:22].strip(): row[start : gaps[0] if gaps else None].strip() for row in table[2:]}


def test_one_plan_is_reported_as_ever_however_it_is_given(plans, capsys):
    whole = printed(plans[0])
    assert "minus" not in whole
    for given in (plans[0], str(plans[0]), [plans[0]]):
        audit.intervene_report(given).print()
        assert capsys.readouterr().out == whole


def test_shares_are_side_by_side_with_the_sentences_of_each_report(plans):
    text = printed(*plans)
    for critic, path in zip(CRITICS, plans, strict=True):
        alone = printed(path)
        first = next(moving(read_report(path).analysis))
        assert first in alone
        assert f"- simulated-{critic}: {first}" in text
        known = {share.name: share for share in read_report(path).analysis.shares}
        cells = column(text, f"simulated-{critic}")
        assert list(cells) == list(NAMES)
        for name, found in cells.items():
            assert found.endswith(known[name].verdict or "%)"), name
            if name in FOLLOWED and not math.isnan(known[name].low):
                assert found.startswith(f"{round(100 * max(-1, min(1, known[name].estimate)))}% ("), name
    assert text.count("paired over 5 prompts of 2 runs") == 2
    assert "Every plan is compared with the first, simulated-label-silent." in text
    assert text.index("simulated-uniform minus simulated-label-silent") < text.index("simulated-typical minus")


def test_rows_are_shares_then_differences_in_every_format_and_from_python(plans):
    rows = json.loads(printed(*plans[:2], "--format", "json"))
    assert [(row["plan"], row["against"], row["name"]) for row in rows] == [
        (f"simulated-{plan}", against and f"simulated-{against}", name)
        for plan, against in (("label-silent", None), ("uniform", None), ("uniform", "label-silent"))
        for name in NAMES
    ]
    first, second, differences = (rows[start : start + len(NAMES)] for start in (0, 17, 34))
    for a, b, difference in zip(first, second, differences, strict=True):
        if a["name"] in SHARES:
            assert difference["estimate"] == pytest.approx(b["estimate"] - a["estimate"])
        assert (difference["units"], difference["runs"], difference["paired"]) == (5, 2, "prompts")
    alone = {row["name"]: row for row in json.loads(printed(plans[0], "--outcome", "share", "--format", "json"))}
    for row in first:
        assert {key: row[key] for key in ("estimate", "low", "high", "p", "verdict")} == {
            key: alone[row["name"]][key] for key in ("estimate", "low", "high", "p", "verdict")
        }
    table = audit.intervene_report(plans[:2])
    assert [dict(row) for row in table] == rows
    assert tuple(rows[0]) == COLUMNS
    few = printed(*plans[:2], "--columns", "name,estimate", "--limit", "2", "--format", "csv")
    assert few.splitlines()[0] == "name,estimate"
    assert len(few.splitlines()) == 3
    assert printed(*plans[:2], "--outcome", "share") == printed(*plans[:2])


def test_the_order_of_plans_decides_what_is_compared_with_what(plans):
    rows = {
        (row["name"], order): row
        for order, given in enumerate((plans[:2], plans[1::-1]))
        for row in audit.intervene_report(given)
        if row["against"]
    }
    for name in SHARES:
        assert rows[name, 0]["estimate"] == pytest.approx(-rows[name, 1]["estimate"])


def test_a_plan_without_shares_is_not_guessed_at(plans, unasked):
    text = printed(plans[0], unasked)
    assert "- simulated-uniform: Its plan lacks arm C or the arms that show one rollout alone" in text
    assert set(column(text, "simulated-uniform").values()) == {"not asked"}
    assert "not compared, since simulated-uniform has not been asked for shares" in text
    rows = [row for row in audit.intervene_report([plans[0], unasked]) if row["against"]]
    assert {row["verdict"] for row in rows} == {"not compared"}
    assert {row["p"] for row in rows} == {None}


def rewrite(path, change, *, changed=None):
    """Answers changed one by one, and the plan where that is given."""
    if changed is not None:
        made = msgspec.structs.replace(read_plan(path), **changed).signed()
        path.write_bytes(msgspec.json.encode(made))
    rows = lines(answers_of(path))
    for row in rows:
        change(row)
    answers_of(path).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def test_a_plan_with_a_problem_has_no_verdict_and_is_not_compared(copies):
    rewrite(copies[1], lambda row: row.update(params=None, error="x") if row["arm"] == "S_w" else None)
    text = printed(*copies)
    assert re.search(r"^- simulated-uniform: No verdict: .* unreadable", text, re.MULTILINE)
    cells = column(text, "simulated-uniform")
    assert all(cell.endswith(("no verdict", "not asked")) for cell in cells.values())
    assert not any("cannot" in cell for cell in cells.values())
    assert "not compared, since simulated-uniform has " in text


def test_a_plan_of_an_earlier_version_is_not_compared(copies):
    earlier = msgspec.structs.replace(read_plan(copies[0]), schema=1).signed()
    rewrite(copies[0], lambda row: row.update(plan_sha256=earlier.sha256), changed={"schema": 1})
    text = printed(*copies)
    assert f"- simulated-label-silent: {EARLIER}" in text
    assert set(column(text, "simulated-label-silent").values()) == {"not comparable"}
    assert "not compared, since simulated-label-silent has a plan of an earlier version" in text


def test_wrong_use_is_one_line(plans, copies, tmp_path):
    (tmp_path / "there").mkdir()
    again = tmp_path / "there" / ".." / copies[0].name
    assert "is given twice" in one_line(report(copies[0], copies[1], again), status=2)
    assert "cannot read" in one_line(report(plans[0], tmp_path / "none.json"))
    assert "compared by shares alone" in one_line(report(*plans[:2], "--outcome", "edits"), status=2)
    whole = answers_of(copies[1]).read_text().splitlines(keepends=True)
    answers_of(copies[1]).write_text("".join(whole[:-2]))
    assert f"go on with: audit intervene run {copies[1]}" in one_line(report(plans[0], copies[1]))
    answers_of(copies[1]).unlink()
    assert "no answers yet" in one_line(report(plans[0], copies[1]))
    with pytest.raises(audit.UsageError, match="give one or more"):
        audit.intervene_report([])


def test_headings_are_models_and_files_tasks_or_paths_where_models_are_the_same(plans):
    first, second, _ = (read_plan(path) for path in plans)
    assert headings([first, second], plans[:2]) == ["simulated-label-silent", "simulated-uniform"]
    same = [Path("a/x.json"), Path("a/y.json"), Path("z.json")]
    assert headings([first, first, second], same) == [
        *("simulated-label-silent, x", "simulated-label-silent, y", "simulated-uniform")
    ]
    pong = msgspec.structs.replace(first, units=[msgspec.structs.replace(each, env="pong") for each in first.units])
    same = [Path("a/plan.json"), Path("b/plan.json")]
    assert headings([first, pong], same) == ["simulated-label-silent, cartpole", "simulated-label-silent, pong"]
    assert headings([first, first], same) == [f"simulated-label-silent, {path}" for path in same]


def test_what_shares_are_relative_to_is_said_below_differences():
    assert any("relative to what the same critic does with one rollout alone" in each for each in _explained([], [1]))


def test_a_cell_has_no_numbers_that_say_nothing():
    clear, blind = (SimpleNamespace(ceiling=Ceiling(signal, 0.4), shares=[]) for signal in (0.3, 0.05))
    share = Share("called worst", 1.4, 0.2, 2.6, verdict=MOVES)
    assert cell(clear, share) == "100% (20% to 100%), moves it"
    assert cell(blind, share) == "moves it"
    assert cell(blind, Share("wording", 1.4, 0.2, 2.6, verdict=MOVES)) == ">100% (20% to 100%), moves it"
    assert cell(clear, Share("called best", verdict=NOT_ASKED)) == "not asked"


@pytest.mark.slow
def test_a_critic_that_follows_the_label_differs_in_that_from_one_that_does_not(tmp_path):
    data = recorded(tmp_path / "data", "inverteddoublependulum", runs=10, iterations=8, rollouts=20)
    asked = arms("A0=1", "R0=0", "RW=0", "RM=0", "RB=0", "C=12", "S_w=8", "S_m=8", "S_b=8", "E0=8")
    given = ("--preset", "standard", "--units", 50, "--permutations", 1999, *asked)
    paths = [finished(data, tmp_path, critic, *given) for critic in ("label-silent", "uniform")]
    paths.append(finished(data, tmp_path, "label-silent", *given, "--seed", 3, name="again"))
    rows = [row for row in audit.intervene_report(paths) if row["against"]]
    differing = [(row["plan"], row["name"]) for row in rows if row["verdict"] == "differs"]
    assert differing == [("simulated-uniform", "called worst")]
    found = next(row for row in rows if row["verdict"] == "differs")
    assert found["high"] < -0.3
    assert {row["p_adjusted"] >= 0.05 for row in rows[len(NAMES) :] if row["p_adjusted"] is not None} == {True}
