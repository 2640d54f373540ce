"""What a baseline records, with a training that only pretends: no Stable-Baselines3 is needed."""

from __future__ import annotations

import json
import sys

import pytest

from audit.cli import main as audit
from audit.vocabulary.methods import METHODS as AUDITED
from collector.baselines.hyperparameters import preset
from collector.baselines.methods import BASELINES
from collector.errors import CollectorError
from collector.methods import METHODS
from tests.collector.baselines.samples import Pretended, baseline, record
from tests.collector.helpers import lines, timeless


def test_a_run_is_recorded_like_those_of_a_language_model(tmp_path):
    reports = []
    run = baseline()
    folder = record(run, tmp_path, report=reports.append)
    assert folder == tmp_path / "sb3+iterations-3+rollouts-2" / "cartpole" / "sb3-ppo" / "run-01"
    about = json.loads((folder / "run.json").read_text())
    assert (about["backend"], about["model"], about["variant"]) == ("stable-baselines3", "sb3-ppo", "sb3-ppo")
    assert (about["tau_c"], about["step_size"], about["warmup"], about["prompts"]) == (None, None, [], {})
    assert about["options"]["algorithm"] == "PPO"
    assert (about["options"]["origin"], about["options"]["entry"]) == ("rl-zoo", "CartPole-v1")
    assert about["options"]["hyperparameters"] == preset("sb3-ppo", "cartpole").hyperparameters
    assert {"stable-baselines3", "sb3-contrib", "torch", "gymnasium"} <= set(about["versions"])
    episodes = lines(folder / "episodes.jsonl")
    assert [episode["iteration"] for episode in episodes] == [0, 1, 2]
    for episode in episodes:
        candidate = episode["initial"]
        assert {key: episode[key] for key in ("revised", "revision_status", "selected", "evidence")} == {
            "revised": None,
            "revision_status": "none",
            "selected": "initial",
            "evidence": None,
        }
        assert (candidate["params"], candidate["source"], candidate["answer"]) == ([], "baseline", "")
        assert candidate["mean_return"] == sum(candidate["returns"]) / 2
        assert len(candidate["seeds"]) == len(candidate["lengths"]) == len(candidate["ended"]) == 2
    assert len({seed for episode in episodes for seed in episode["initial"]["seeds"]}) == 6
    assert [progress.finished for progress in reports] == [0, 1, 2, 3]


def test_a_run_cut_off_anywhere_goes_on_to_the_same_records(tmp_path):
    run = baseline(iterations=5)
    whole = timeless(record(run, tmp_path / "whole"))
    for cut in range(5):
        out = tmp_path / f"cut-{cut}"
        with pytest.raises(CollectorError, match="died"):
            record(run, out, Pretended(dies_after=cut))
        assert len(lines(out / run.folder / "episodes.jsonl") if cut else []) == cut
        reports = []
        assert timeless(record(run, out, report=reports.append)) == whole
        assert [progress.finished for progress in reports] == list(range(cut, 6)), "only what is new is reported"


def test_a_torn_last_line_is_trained_again(tmp_path):
    run = baseline(iterations=4)
    whole = timeless(record(run, tmp_path / "whole"))
    path = record(run, tmp_path / "torn") / "episodes.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert timeless(record(run, tmp_path / "torn")) == whole


def test_a_training_that_does_not_repeat_the_records_is_refused(tmp_path):
    """Other versions are named; those that repeat the records are welcome."""
    run = baseline(iterations=4)
    with pytest.raises(CollectorError):
        record(run, tmp_path, Pretended(dies_after=3))
    before = timeless(tmp_path)
    with pytest.raises(CollectorError, match=r"training again from the start, iteration 2 comes out as .* is recorded"):
        record(run, tmp_path, Pretended(differs_at=2))
    assert timeless(tmp_path) == before
    path = tmp_path / run.folder / "run.json"
    about = json.loads(path.read_text())
    about["versions"]["torch"] = "0.1"
    path.write_text(json.dumps(about))
    with pytest.raises(CollectorError, match=r"torch 0\.1 is now "):
        record(run, tmp_path, Pretended(differs_at=0))
    record(run, tmp_path)
    # What is complete is not trained again, and other settings are refused.
    again = Pretended()
    record(run, tmp_path, again)
    assert again.trained == 0
    with pytest.raises(CollectorError, match="seed is 0, not 1"):
        record(baseline(iterations=4, condition=run.condition, seed=1), tmp_path)


def test_the_audit_knows_what_methods_do_whose_records_do_not_say_so():
    facts = {method.id: method.facts for method in (METHODS | BASELINES).values()}
    assert facts == {name: AUDITED[name] for name in facts}
    assert AUDITED.keys() - facts.keys() == {"gepa", "simba", "openevolve", "shinkaevolve"}


@pytest.mark.parametrize("command", ["runs", "summary"])
def test_the_audit_reads_the_records(command, tmp_path, capsys, monkeypatch):
    for variant in ("sb3-ppo", "sb3-dqn"):
        record(baseline(variant), tmp_path)
    monkeypatch.setattr(sys, "argv", ["audit", command, str(tmp_path), "--format", "json"])
    with pytest.raises(SystemExit) as ended:
        audit()
    printed = capsys.readouterr()
    assert not ended.value.code, printed.err
    assert printed.err == ""
    assert [row["variant"] for row in json.loads(printed.out)] == ["sb3-dqn", "sb3-ppo"]
