"""Scores by a user's own function: one that raises, hangs or ends is named, and the same command goes on."""

from __future__ import annotations

import json

import pytest

import audit
from audit.interventions.texts.evaluating import evaluate, read_scores
from audit.output.errors import AuditError, UsageError
from tests.audit.interventions.planned import audit as command
from tests.audit.interventions.planned import last_line
from tests.audit.interventions.texts.reflectors import Reflector, record

SCORING = """
import os, time
from pathlib import Path

def length(candidate):
    print("noise")
    return len(candidate["rules"])

def mended(candidate):
    if candidate["rules"] == "two" and not Path("mended").exists():
        raise ValueError("no two")
    return 1.0

def hanging(candidate):
    if candidate["rules"] == "two":
        time.sleep(60)
    return 1.0

def ending(candidate):
    os._exit(3)

def unbounded(candidate):
    return float("nan") if candidate["rules"] == "two" else 1
"""
CANDIDATES = [{"rules": rules} for rules in ("one", "two", "three", "two")]


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "scoring.py").write_text(SCORING)
    monkeypatch.chdir(tmp_path)


def test_every_candidate_is_scored_once(tmp_path, capfd):
    for _ in range(2):
        evaluate(CANDIDATES, tmp_path / "plan.json", "scoring:length", 60)
    assert sorted(read_scores(tmp_path / "plan.json").values()) == [3, 3, 5]
    assert len((tmp_path / "plan.scores.jsonl").read_text().splitlines()) == 3
    assert "noise" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("function", "error"),
    [("mended", "ValueError: no two"), ("hanging", "took longer than 0.5 s"), ("unbounded", "returned nan")],
)
def test_what_fails_is_named_and_tried_again(function, error, tmp_path, capsys):
    evaluate(CANDIDATES, tmp_path / "plan.json", f"scoring:{function}", 0.5)
    assert error in capsys.readouterr().err
    assert len(read_scores(tmp_path / "plan.json")) == 2
    (tmp_path / "mended").touch()
    evaluate(CANDIDATES, tmp_path / "plan.json", f"scoring:{function}", 0.5)
    lines = [json.loads(line) for line in (tmp_path / "plan.scores.jsonl").read_text().splitlines()]
    assert [line["score"] for line in lines] == [1.0, None, 1.0, 1.0 if function == "mended" else None]


def test_one_that_always_fails_is_given_up(tmp_path):
    candidates = [{"rules": str(number)} for number in range(50)]
    with pytest.raises(AuditError, match="all of the first 5 candidates failed: the process ended with status 3"):
        evaluate(candidates, tmp_path / "plan.json", "scoring:ending", 60)


def test_a_function_that_is_not_there_or_another_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no_such_module"):
        evaluate(CANDIDATES, tmp_path / "plan.json", "no_such_module:score", 60)
    evaluate(CANDIDATES, tmp_path / "plan.json", "scoring:length", 60)
    with pytest.raises(AuditError, match="holds scores by scoring:length"):
        evaluate(CANDIDATES, tmp_path / "plan.json", "scoring:unbounded", 60)


def test_a_remedy_is_judged_by_scores(tmp_path, monkeypatch):
    """The score is 1 where a rule is about the poor ticket, which who follows the lowest printed score writes of."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    data = record(tmp_path / "data", runs=6, iterations=4)
    poor = {}
    for path in data.rglob("episodes.jsonl"):
        for line in path.read_text().splitlines():
            first = json.loads(line)["initial"]
            poor[first["text"]["rules"]] = first["example_ids"][first["returns"].index(min(first["returns"]))]
    (tmp_path / "poor.json").write_text(json.dumps(sorted(poor.values())))
    (tmp_path / "about.py").write_text(
        "import json\nPOOR = json.load(open('poor.json'))\n"
        "def poor(candidate):\n    return float(any(f'A {name} goes' in candidate['rules'] for name in POOR))\n"
    )
    server = Reflector("lowest")
    try:
        plan = [
            "remedy",
            "plan",
            data,
            "--out",
            "plan.json",
            "--units",
            16,
            "--remedy",
            "hidden",
            "--remedy",
            "letters",
        ]
        assert command(*plan, *server.options()).exit_code == 0
        result = command("remedy", "run", "plan.json", "--concurrency", 8)
        assert result.exit_code == 0, result.stderr
        assert "candidates were not scored" in command("remedy", "report", "plan.json").stderr
        result = command("remedy", "run", "plan.json", "--evaluate", "about:poor")
        assert result.exit_code == 0, result.stderr
    finally:
        server.close()
    rows = {(row["name"], row["outcome"]): row for row in audit.remedy_report("plan.json")}
    hidden, letters = rows["N", "mean gain"], rows["L", "mean gain"]
    assert hidden["verdict"] == "moves it"
    assert hidden["high"] < 0
    assert letters["verdict"] == "cannot be told"
    assert rows["A0", "mean gain"]["estimate"] == 1


def test_scores_are_for_plans_on_texts(tmp_path):
    (tmp_path / "plan.json").write_text('{"schema": 1, "kind": "texts"}')
    assert "is not a plan" in last_line(command("intervene", "run", "plan.json"))
