"""The task runs in Inspect, and the card of its log is that of the same answers; Inspect is not needed for the card."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import msgspec
import pytest

from audit.cards.card import read_card
from audit.cards.evals import critic_from
from audit.cards.examining import critic
from audit.cards.suite import packaged
from audit.interventions.answers import read_answers
from audit.interventions.plan import read_plan
from audit.output.errors import AuditError
from tests.audit.interventions.critics_server import Critic, CriticsServer, called
from tests.tools.running import run_tool

pytestmark = pytest.mark.slow

DIFFERENT = {"backend", "model", "options", "simulated", "plan_sha256", "answers"}


def run_inspect(*arguments):
    """The log of a run, and the share of answers that Inspect calls readable."""
    printed = run_tool("inspect", "run_inspect.py", *arguments, package="inspect_ai", printed="stdout")
    path, accuracy = printed.splitlines()[-1].rsplit(" ", 1)
    return path, float(accuracy)


def card_of(folder, *also):
    card = msgspec.to_builtins(read_card(folder))
    card["cost"] = {name: value for name, value in card["cost"].items() if name not in {"median_seconds", *also}}
    return {name: value for name, value in card.items() if name not in DIFFERENT}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked") / "simulated"
    critic(backend="simulated", out=folder)
    return folder


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_the_card_of_a_run_with_the_same_answers(simulated, tmp_path, kind):
    log, accuracy = run_inspect(tmp_path / "logs", simulated / "plan.answers.jsonl", "--format", kind)
    out = tmp_path / "card"
    critic_from(log, out=out)
    card = read_card(out)
    assert (card.model, card.backend, card.simulated) == ("mockllm/model", "inspect", False)
    assert card.options == {"inspect_ai": card.options["inspect_ai"]}
    # Inspect counts tokens where the simulated critic does not.
    assert card_of(out, "prompt_tokens", "completion_tokens") == card_of(
        simulated, "prompt_tokens", "completion_tokens"
    )
    path = out / "plan.json"
    assert accuracy == pytest.approx(
        fmean(each.params is not None for each in read_answers(read_plan(path), path)[0].values())
    )


def test_the_card_of_a_model_behind_a_server(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = CriticsServer()
    try:
        server.critics["scripted"] = Critic(called("worst"))
        address = f"{server.url}/v1"
        asked = tmp_path / "asked"
        critic(backend="openai", base_url=address, model="scripted", units=18, out=asked)
        log, _ = run_inspect(tmp_path / "logs", asked, "--server", address, "--model", "scripted", "--units", "18")
    finally:
        server.close()
    critic_from(log, out=tmp_path / "card")
    assert card_of(tmp_path / "card") == card_of(asked)
    assert read_card(tmp_path / "card").model == "openai-api/loopback/scripted"


def test_a_part_of_a_run_has_no_card(simulated, tmp_path):
    log, _ = run_inspect(tmp_path / "logs", simulated / "plan.answers.jsonl", "--limit", "20")
    with pytest.raises(AuditError, match=r"340 of 360 calls have no answer in .*; run the task without --limit"):
        critic_from(log, out=tmp_path / "card")


def test_the_task_states_what_it_asks(simulated, tmp_path):
    log, _ = run_inspect(tmp_path / "logs", simulated / "plan.answers.jsonl", "--format", "json", "--limit", "3")
    whole = json.loads(Path(log).read_text())
    suite = packaged()
    about = {"suite": suite.sha256, "size": "quick", "seed": 1, "suite_name": "suite-1", "units": 72}
    assert whole["eval"]["metadata"] == about
    assert len(whole["samples"]) == 3
    for sample in whole["samples"]:
        said = sample["metadata"]
        assert sample["id"] == f"{said['unit']}/{said['arm']}/{said['replicate']}"
        unit = next(each for each in suite.units if each.number == said["unit"])
        assert (sample["input"] == unit.prompt) == (said["arm"] == "A0")
        assert {name: said[name] for name in ("suite", "size", "env")} == {
            "suite": suite.sha256,
            "size": "quick",
            "env": unit.env,
        }
    assert whole["eval"]["task"] == "audit/critic"
