"""Experiments in the viewer are those of `audit intervene`: its report, its answers, its errors."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

import audit
from audit.interventions.plan import answers_file, read_plan
from audit.interventions.report import read_report
from audit.options import Options
from audit.output.errors import AuditError
from audit.viewer import interventions
from audit.viewer.query import Query
from audit.viewer.revision import revision
from audit.viewer.session import Session
from tests.audit.interventions.planned import audit as command
from tests.audit.interventions.planned import one_line, plan, recorded, run
from tests.audit.viewer.conftest import visit
from tests.audit.viewer.test_server import ask

ARMS = ("A0=2", "N0=2", "N0h=2", "P1=2", "XL=2", "XP=2", "RW=2", "RM=2")
TEXT = "The worst rollout fell. <img src=x onerror='hacked=1'><style>*{display:none}</style>\x1b[31m\u202e"


@pytest.fixture(scope="module", autouse=True)
def made(tmp_path_factory) -> Path:
    """Records of two runs, and a finished plan. Made before a browser, whose event loop runs in this thread."""
    folder = tmp_path_factory.mktemp("experiment")
    recorded(folder / "runs")
    path = folder / "plan.json"
    arms = [word for arm in (*ARMS, "C=0", "S_w=0", "S_m=0", "S_b=0", "E0=0") for word in ("--arm", arm)]
    plan(folder / "runs", path, "--units", 3, "--rollouts", 4, *arms)
    assert run(path).exit_code == 0
    return path


@pytest.fixture
def copied(made, tmp_path) -> Path:
    """The same, to be changed."""
    shutil.copytree(made.parent, tmp_path / "copy")
    return tmp_path / "copy" / made.name


def rewrite(path: Path, change) -> None:
    """Change the answers to a plan: a function of one that gives another, or None to drop it."""
    file = answers_file(path)
    lines = [change(json.loads(line)) for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines if line is not None))


def opened(*paths: Path) -> Session:
    return Session(Options(paths=[paths[0].parent / "runs"], plans=paths))


@pytest.fixture(scope="module")
def session(made):
    with opened(made) as session:
        yield session


@pytest.fixture(scope="module")
def experiment(made):
    """The pages of the experiment, whose answers are hostile texts."""
    hostile = made.parent / "hostile.json"
    shutil.copy(made, hostile)
    shutil.copy(answers_file(made), answers_file(hostile))
    rewrite(hostile, lambda line: {**line, "completion": TEXT})
    with audit.view(made.parent / "runs", plan=[made, hostile]) as view:
        yield view


def test_the_report_is_that_of_the_command(session, made) -> None:
    found = interventions.report(session, 1)
    lines = list(found["setting"])
    for section in found["sections"]:
        lines += ["", section["title"], *(f"- {line}" for line in section["lines"])]
    assert lines == list(read_report(made).lines())
    rows = list(audit.intervene_report(made))
    assert [{name: value for name, value in row.items() if name != "sentence"} for row in found["effects"]] == rows
    assert [each["name"] for each in found["columns"] if not each["meaning"]] == []


def test_answers_of_a_unit_are_those_of_the_command(session, made) -> None:
    rows = list(audit.intervene_show(made, 2))
    answers = [(arm["arm"], answer) for arm in interventions.unit(session, 1, 2)["arms"] for answer in arm["answers"]]
    assert len(answers) == len(rows) == 16
    for row, (arm, answer) in zip(rows, answers, strict=True):
        assert (arm, answer["replicate"]) == (row["arm"], row["replicate"] + 1)
        assert "".join(piece["text"] for piece in answer["answer"]) == row["answer"]
        assert answer["gain"] == row["gain"]
        edits = ", ".join(f"params[{e['index']}] {e['before']:g} → {e['after']:g}" for e in answer["edits"])
        assert edits == row["edit"]
        assert len(answer["shown"]) == row["shown"].count("|") + 1


def test_mentions_have_the_true_role_of_what_the_prompt_called_worst(copied) -> None:
    rewrite(copied, lambda line: {**line, "completion": "The worst rollout fell."})
    with opened(copied) as session:
        arms = {arm["arm"]: arm["answers"] for arm in interventions.unit(session, 1, 1)["arms"]}
    for arm, role in (("A0", "worst"), ("XL", "best")):
        for answer in arms[arm]:
            [mention] = answer["mentions"]
            assert mention["labels"] == [role]
            assert [answer["shown"][place]["roles"] for place in mention["places"]] == [[role]]
    exchanged = arms["XL"][0]["shown"]
    assert [each["name"].split()[0] for each in exchanged] == ["Best", "Median", "Worst"]
    assert [each["return"] for each in exchanged] == [None] * 3
    assert {each["roles"][0] for each in arms["RW"][0]["shown"]} == {"other", "median", "best"}


def test_before_all_calls_are_answered_nothing_is_tested(copied) -> None:
    rewrite(copied, lambda line: None if line["arm"] == "XL" else line)
    with opened(copied) as session:
        found = interventions.plan(session, 1)
        assert found["unfinished"].startswith("6 of 48 calls have no answer yet")
        assert {arm["arm"]: arm["answered"] for arm in found["arms"]}["XL"] == 0
        assert sum(arm["answered"] for arm in found["arms"]) == found["answered"] == 42
        with pytest.raises(AuditError, match="6 of 48 calls"):
            interventions.report(session, 1)
        arms = {arm["arm"]: len(arm["answers"]) for arm in interventions.unit(session, 1, 1)["arms"]}
        assert (arms["XL"], arms["A0"]) == (0, 2)
        answers_file(copied).unlink()
        assert interventions.plan(session, 1)["answered"] == 0


def test_a_plan_that_was_changed_leaves_the_others(copied, made) -> None:
    copied.write_text(copied.read_text().replace('"seed": 0', '"seed": 1'))
    with opened(made, copied) as session:
        good, bad = interventions.plans(session)["plans"]
        assert good["problem"] is None
        assert "was changed after it was written" in bad["problem"]
        with pytest.raises(AuditError, match="was changed"):
            interventions.plan(session, 2)
        key = read_plan(made).units[1].key
        assert revision(session, key, Query())["units"] == [{"plan": 1, "unit": 2}]


def test_mistakes_are_one_line_and_plans_of_a_store_are_shown(experiment, made) -> None:
    for path, message in (
        ("3", b"no plan 3; there are 2"),
        ("0/report", b"no plan 0"),
        ("1/unit/4", b"no unit 4; the plan has 3"),
    ):
        status, _, body = ask(experiment, f"api/interventions/{path}")
        assert (status, message in body, b"\n" in body) == (404, True, False)
    with audit.open(plan=made) as store, audit.view(store) as view:
        assert json.loads(ask(view, "api/about")[2])["plans"] == 1
        assert json.loads(ask(view, "api/interventions")[2])["plans"][0]["answered"] == 48
    result = command("view", made.parent / "runs", "--plan", made, "--export", made.parent / "site")
    assert "leave out --export" in one_line(result, 2)


def test_tests_that_take_long_keep_nobody_else_waiting(experiment) -> None:
    with ThreadPoolExecutor() as pool:
        with interventions._TESTING:
            report = pool.submit(ask, experiment, "api/interventions/1/report")
            assert ask(experiment, "api/interventions/1/unit/1")[0] == ask(experiment, "api/about")[0] == 200
            assert not report.done()
        assert report.result()[0] == 200


@pytest.mark.slow
def test_the_report_and_its_effects_are_on_the_page(page, experiment, made) -> None:
    visit(page, experiment, "#/interventions")
    page.wait_for_selector("#report:not([aria-busy])")
    report = read_report(made)
    sentences = page.eval_on_selector_all(".sentences li", "all => all.map(each => each.textContent)")
    assert sentences == [line[2:] for line in report.lines() if line.startswith("- ")]
    dots = page.locator("#effects svg circle").count()
    assert dots == sum(row["estimate"] is not None for row in report.rows())
    page.select_option("#plan", "2")
    page.wait_for_function("() => document.querySelector('#main p.muted').textContent.endsWith('hostile.json')")


@pytest.mark.slow
def test_from_an_experiment_to_a_prompt_its_revision_and_back(page, experiment, made, served) -> None:
    visit(page, experiment, "#/interventions")
    page.click("main a[href='#/interventions/1?plan=1']")
    page.wait_for_selector(".arm")
    assert page.locator(".arm").count() == len(ARMS)
    page.keyboard.press("j")
    page.wait_for_function("() => document.querySelector('h1').textContent.startsWith('Prompt 2')")
    page.uncheck("#show-A0")
    page.wait_for_function("() => document.querySelectorAll('.arm').length === 7")
    page.keyboard.press("k")
    page.wait_for_function("() => document.querySelector('h1').textContent.startsWith('Prompt 1')")
    assert page.locator(".arm").count() == 7
    page.click("text=the revision that it is made from")
    page.wait_for_selector("[data-page='revision']")
    assert "/".join(quote(str(part)) for part in read_plan(made).units[0].key) in page.url
    page.click("text=asked again under changed evidence >> nth=0")
    page.wait_for_selector(".arm")
    assert page.url.endswith("#/interventions/1?plan=1")
    visit(page, served)  # without a plan there is no such page
    assert page.locator("nav a", has_text="Interventions").count() == 0
    visit(page, served, "#/interventions")
    assert "--plan FILE" in page.inner_text("p.error")


@pytest.mark.slow
def test_mentions_have_the_colour_of_their_rollout_and_texts_do_not_act(page, experiment) -> None:
    visit(page, experiment, "#/interventions/1?plan=2&arms=A0,XL")
    for arm, role in (("A0", "worst"), ("XL", "best")):
        marks = page.eval_on_selector_all(f"[aria-labelledby=arm-{arm}] mark", "all => all.map(each => each.className)")
        assert set(marks) == {role}
    assert page.evaluate("typeof hacked") == "undefined"
