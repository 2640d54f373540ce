"""Experiments as relations: every answer, unit and effect once, and what is read off files by hand."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from tests.audit.interventions.planned import answers_of, lines, recorded

KEY = ("condition", "env", "variant", "run", "iteration")
ARMS = {"N0": 2, "N0h": 2, "XL": 3, "XP": 2}


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> Path:
    """Four prompts of a simulated search, asked again under four arms, beside the records."""
    folder = tmp_path_factory.mktemp("experiment")
    recorded(folder / "runs", iterations=12, rollouts=20)
    left_out = [f"{arm}=0" for arm in ("A0", "C", "S_w", "S_m", "S_b", "E0")]
    path = folder / "plan.json"
    audit.intervene_plan(
        folder / "runs",
        backend="simulated",
        personality="label",
        out=path,
        units=4,
        arms=[*left_out, *(f"{arm}={number}" for arm, number in ARMS.items())],
        permutations=99,
        rollouts=0,
    )
    audit.intervene_run(path)
    return path


def test_every_answer_is_a_row_as_its_line_has_it(plan):
    units = {tuple(unit[name] for name in KEY): unit for unit in json.loads(plan.read_text())["units"]}
    written = lines(answers_of(plan))
    by_call = {(*(line[name] for name in KEY), line["arm"], line["replicate"]): line for line in written}
    with audit.open(plan.parent / "runs", plan=plan) as store:
        rows = store.rows("interventions")
    assert {(*(row[name] for name in KEY), row["arm"], row["replicate"]) for row in rows} == set(by_call)
    assert len(rows) == len(by_call) == 4 * sum(ARMS.values())
    assert sorted(row["call"] for row in rows) == list(range(len(rows)))
    for row in rows:
        key = tuple(row[name] for name in KEY)
        line = by_call[*key, row["arm"], row["replicate"]]
        assert row["shown"].split(", ") == [each["content"] for each in line["shown"]]
        [(place, worst)] = [(i, each) for i, each in enumerate(line["shown"], 1) if each["content"] == "worst"]
        seen = (place, worst["label"], worst["number"])
        assert (row["worst_place"], row["worst_label"], row["worst_number"]) == seen
        assert row["readable"] == (line["params"] is not None)
        before = units[key]["params"]
        changes = [abs(b - a) for a, b in zip(before, line["params"] or before, strict=True)]
        assert row["edit_size"] * step_size(plan) == pytest.approx(sum(changes))
        assert row["words"] == len(line["completion"].split())
        assert not row["names_worst"] or row["mentions_worst"]
        assert row["says_worst"] == bool(re.search(r"\bworst\b", line["completion"], re.IGNORECASE))
        assert (row["gain"], row["harmful"]) == (None, None)
    assert {row["names_worst"] for row in rows} == {True, False}


def step_size(plan: Path) -> float:
    return json.loads(next(plan.parent.glob("runs/**/run.json")).read_text())["step_size"]


def test_places_labels_and_numbers_are_those_of_the_arm(plan):
    with audit.open(plan=plan) as store:
        by_arm = store.sql(
            "select arm, list(distinct worst_label order by worst_label), list(distinct worst_number) "
            "from interventions group by arm order by arm"
        ).fetchall()
    assert by_arm == [
        ("N0", ["worst"], ["worst"]),
        ("N0h", ["worst"], [None]),
        ("XL", ["best"], [None]),
        ("XP", ["worst"], ["worst"]),
    ]


def test_units_count_their_answers(plan):
    with audit.open(plan=plan) as store:
        rows = store.rows("intervention_units")
    assert [row["answered"] for row in rows] == [sum(ARMS.values())] * 4
    assert [row["planned"] for row in rows] == [sum(ARMS.values())] * 4
    assert sum(row["unreadable"] for row in rows) == sum(line["params"] is None for line in lines(answers_of(plan)))
    assert all(row["worst_return"] < row["median_return"] < row["best_return"] for row in rows)
    assert {(row["backend"], row["model"], row["arms"]) for row in rows} == {("simulated", "simulated-label", 4)}


def test_effects_are_those_of_the_report(plan):
    report = audit.intervene_report(plan)
    with audit.open(plan=[plan, plan]) as store:  # the same plan twice is one
        effects = store.rows("intervention_effects")
    assert [{name: row[name] for name in report.columns} for row in effects] == list(report.rows)
    assert len({row["sentence"] for row in effects}) == len(effects)


def test_a_plan_without_records_named_reads_its_own(plan):
    with audit.open(plan=plan) as of_plan, audit.open(plan.parent / "runs") as of_path:
        assert of_plan.rows("runs") == of_path.rows("runs")
        assert of_plan.plans == (plan,)
        assert of_path.rows("interventions") == of_path.rows("intervention_effects") == []
    with pytest.raises(audit.UsageError, match="give a folder"):
        audit.open()


def test_before_all_answers_are_in_there_are_rows_and_no_effects(plan, tmp_path):
    folder = tmp_path / "unfinished"
    shutil.copytree(plan.parent, folder)
    answers = folder / "plan.answers.jsonl"
    answers.write_text("".join(answers.read_text().splitlines(keepends=True)[:5]))
    with audit.open(plan=folder / "plan.json") as store:
        assert len(store.rows("interventions")) == 5
        assert sum(row["answered"] for row in store.rows("intervention_units")) == 5
        with pytest.raises(audit.AuditError, match="31 of 36 calls have no answer yet"):
            store.rows("intervention_effects")
    answers.unlink()
    with audit.open(plan=folder / "plan.json") as store:
        assert store.rows("interventions") == []
        assert [row["answered"] for row in store.rows("intervention_units")] == [0] * 4


def test_queries_read_plans(plan):
    query = "select arm, count(*) as n from interventions group by arm order by arm"
    expected = [{"arm": arm, "n": 4 * number} for arm, number in ARMS.items()]
    assert list(audit.sql(plan.parent / "runs", query, plan=plan)) == expected
    arguments = ["sql", plan.parent / "runs", query, "--plan", plan, "--format", "json"]
    assert json.loads(CliRunner().invoke(app, list(map(str, arguments))).stdout) == expected
    with (
        audit.open(plan=plan) as store,
        pytest.raises(audit.UsageError, match=r"is open already; give plan to audit\.open"),
    ):
        audit.sql(store, query, plan=plan)


def test_a_plan_that_is_none_is_refused_in_a_line(plan, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(plan.read_text().replace('"alpha": 0.05', '"alpha": 0.5'))
    with pytest.raises(audit.AuditError, match=r"was changed after it was written"):
        audit.open(plan=other)
    arguments = ["sql", plan.parent / "runs", "from interventions", "--plan", tmp_path / "none.json"]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"audit: cannot read {tmp_path / 'none.json'}: No such file" in result.stderr


def test_a_plan_is_run_beside_a_loop_that_runs_already_as_in_a_notebook(plan, tmp_path):
    folder = tmp_path / "notebook"
    shutil.copytree(plan.parent, folder)
    (folder / "plan.answers.jsonl").unlink()

    async def cell() -> audit.Table:
        return audit.intervene_run(folder / "plan.json")

    rows = list(asyncio.run(cell()))
    assert [row["answered"] for row in rows] == [row["planned"] for row in rows]
