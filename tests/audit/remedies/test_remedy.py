"""`audit remedy` as a command, on records and on the suite; prompts as remedies make them; planted critics."""

from __future__ import annotations

import json

import numpy as np
import pytest

import audit
from audit.interventions.arms import ARMS, LETTERED
from audit.interventions.making import units_of
from audit.interventions.plan import read_plan
from audit.interventions.running import Asking
from collector.prompt_parts import CriticPrompt, read_blocks
from collector.remedies import REMEDIES
from tests.audit.cards.scripted import Scripted, in_words, policy_of
from tests.audit.interventions.planned import audit as command
from tests.audit.interventions.planned import last_line, plan, recorded

PROMPTED = {name for name, remedy in REMEDIES.items() if remedy.rewrites is not None}


@pytest.fixture(scope="module")
def prompts(asked):
    """One prompt of the first unit under each arm, and its rollouts."""
    read = read_plan(asked)
    asking = Asking(read, *units_of(read, asked))
    first = {call.arm: asking.prompt(call) for call in read.calls() if (call.unit, call.replicate) == (0, 0)}
    return {arm: each.prompt for arm, each in first.items()}, {arm: each.shown for arm, each in first.items()}


def test_each_remedy_is_an_arm_whose_prompt_shows_what_it_says(prompts):
    texts, shown = prompts
    assert texts.keys() == {"A0", *PROMPTED}
    names = {arm: [each.block.name for each in of_arm] for arm, of_arm in shown.items()}
    assert sorted(names["letters"]) == sorted(names["typical"]) == ["Rollout A", "Rollout B", "Rollout C"]
    assert sorted(names["shuffled"]) == sorted(names["A0"]) == ["Best rollout", "Median rollout", "Worst rollout"]
    assert names["contrast"] == ["Worst rollout", "Best rollout"]
    assert names["median"] == ["Median rollout"]
    assert all(each.block.value is None and each.number is None for each in shown["hidden"])
    assert {each.content for each in shown["letters"]} == {"worst", "median", "best"}
    assert "one sample of" in texts["sample"]
    assert "at most 2 of the parameters" in texts["few"]
    assert "predict what the change could break" in texts["predict"]
    assert "Statistics of the 8 rollouts" in texts["median"]
    for arm, text in texts.items():
        assert [each.rollout for each in read_blocks(text)] == [each.block.rollout for each in shown[arm]]


def test_typical_shows_the_three_that_are_nearest_to_the_median(asked, prompts):
    _, shown = prompts
    unit = read_plan(asked).units[0]
    episodes = sorted((asked.parent / "runs").rglob(f"run-{unit.run:02d}/episodes.jsonl"))
    lines = [json.loads(line) for line in episodes[0].read_text().splitlines()]
    values = next(line["initial"]["returns"] for line in lines if line["iteration"] == unit.iteration)
    centre = np.median(values)
    farthest = max(abs(values[each.block.rollout] - centre) for each in shown["typical"])
    assert farthest <= sorted(abs(value - centre) for value in values)[2]


def test_letters_are_asked_as_the_arm_that_shows_the_whole_evidence_without_labels(asked, prompts):
    texts, _ = prompts
    read = read_plan(asked)
    evidence, _ = units_of(read, asked)
    neutral = evidence[0].prompt.neutral()
    mine = CriticPrompt.read(texts["letters"], shows_three=False)
    assert (mine.before, mine.after) == (neutral.before, neutral.after)
    assert ARMS[LETTERED].meaning.startswith("the recorded rollouts; no labels")


def test_a_report_has_every_remedy_and_what_it_is_compared_with(asked):
    rows = {row["remedy"]: row for row in audit.remedy_report(asked)}
    assert rows.keys() == {"A0", "greedy", *REMEDIES}
    assert {row["against"] for name, row in rows.items() if name in PROMPTED} == {"A0"}
    assert rows["gate"]["against"] == "greedy"
    assert rows["medoid"]["calls"] == 3
    assert rows["gate"]["rollouts"] <= 80
    assert rows["A0"]["turns"] == 36
    printed = command("remedy", "report", asked)
    assert printed.exit_code == 0
    assert "without a remedy a revision loses" in printed.stdout
    assert "The answers are not a language model's" in printed.stderr


def test_the_suite_can_be_asked_without_records(tmp_path):
    out = tmp_path / "suite.json"
    result = command(
        "remedy", "plan", "--suite", "quick", "--units", 4, "--remedy", "letters", "--remedy", "gate",
        "--backend", "simulated", "--rollouts", 5, "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    read = read_plan(out)
    assert read.arms == {"A0": 6, "letters": 3}
    assert len(read.units) == 4
    assert command("remedy", "run", out).exit_code == 0
    assert {row["remedy"] for row in audit.remedy_report(out)} == {"A0", "greedy", "letters", "gate"}
    assert "primary" not in result.stderr


def test_what_makes_no_sense_is_reported_in_one_line(tmp_path, asked):
    data = recorded(tmp_path / "runs")
    cases = {
        "unknown remedy 'nope'; choose from letters": ["plan", data, "--remedy", "nope"],
        "leave records out": ["plan", data, "--suite", "quick"],
        "name records, or ask the prompts": ["plan"],
    }
    for words, arguments in cases.items():
        line = last_line(command("remedy", *arguments, "--backend", "simulated", "--out", tmp_path / "x.json"), 2)
        assert words in line
    plan(data, tmp_path / "other.json")
    command("intervene", "run", tmp_path / "other.json")
    assert "is a plan of another experiment" in last_line(command("remedy", "report", tmp_path / "other.json"))
    missing = tmp_path / "new.json"
    audit.remedy_plan([data], backend="simulated", out=missing, units=2, rollouts=5)
    assert "no answers yet" in last_line(command("remedy", "report", missing))
    audit.remedy_run(missing)
    answers = tmp_path / "new.answers.jsonl"
    answers.write_bytes(b"".join(answers.read_bytes().splitlines(keepends=True)[:-1]))
    assert last_line(command("remedy", "report", missing)).endswith(f"go on with: audit remedy run {missing}")
    assert "exists; a plan is not replaced" in last_line(
        command("remedy", "plan", data, "--backend", "simulated", "--out", asked)
    )


def harmful(prompt: str) -> str:
    """A critic that wrecks the policy where a rollout is called worst, and else leaves it as it is."""
    policy = policy_of(prompt)
    if "Worst rollout (" in prompt:
        return in_words([0.0] * len(policy), "The worst rollout shows it.")
    return in_words(policy, "All is well.")


@pytest.mark.slow
def test_remedies_that_take_the_label_away_help_a_critic_that_goes_by_it_and_no_others(tmp_path):
    """Behind a server: letters, the median alone and three typical rollouts have no rollout that is called worst."""
    server = Scripted(harmful)
    out = tmp_path / "plan.json"
    try:
        given = server.options()
        concurrency = given.pop("concurrency")
        audit.remedy_plan(suite="quick", out=out, rollouts=20, units=36, **given)
        audit.remedy_run(out, concurrency=concurrency)
    finally:
        server.close()
    rows = {row["remedy"]: row for row in audit.remedy_report(out)}
    helped = {name for name in PROMPTED if rows[name]["verdict"] == "avoids harm"}
    assert helped == {"letters", "median", "typical"}
    assert all(rows[name]["low"] > 0 for name in helped)
    assert rows["gate"]["false_accepted"] <= rows["greedy"]["false_accepted"] / 3
    assert rows["gate-sequential"]["rollouts"] < rows["gate"]["rollouts"]
