"""A revision's policies on the same seeds: they are the recorded ones, and what cannot be run says why."""

from __future__ import annotations

import json

import pytest

from audit.output.errors import AuditError
from audit.rerun.aside import Aside
from audit.rerun.rollouts import NotRerunnableError
from audit.rerun.side_by_side import find_revision, side_by_side
from audit.vocabulary.keys import RevisionKey
from collector.rollouts.evaluate import evaluate
from collector.tasks import TASKS
from tests.audit.samples import THRESHOLDS, candidate, episode, revision, write_run
from tests.collector.helpers import collect, lines, spec

ENVS = ("frozenlake", "pong", "mountaincarcontinuous", "invertedpendulum", "nim")


@pytest.fixture(scope="module")
def aside():
    with Aside() as opened:
        yield opened


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    for env in ENVS:
        collect(spec(env, "threetraj", iterations=2, rollouts=4, warmup=1), root)
    return root


def key_of(episode):
    return RevisionKey(*(episode[name] for name in RevisionKey._fields))


@pytest.mark.parametrize("env", ENVS)
def test_the_old_policy_comes_out_as_recorded_and_the_new_one_runs_on_its_seeds(data, aside, env):
    [path] = data.rglob(f"{env}/*/*/episodes.jsonl")
    record = lines(path)[1]
    found = side_by_side(find_revision([data], key_of(record)), {"worst": 2, "median": 0, "best": 3}, aside)
    assert [each["label"] for each in found["rollouts"]] == ["worst", "median", "best"]
    for rollout in found["rollouts"]:
        seed = record["initial"]["seeds"][rollout["place"]]
        assert rollout["seed"] == str(seed)
        assert rollout["old"]["agrees"] is True
        assert rollout["old"]["return"] == record["initial"]["returns"][rollout["place"]]
        expected = evaluate(TASKS[env], record["revised"]["params"], [seed])
        assert [rollout["new"]["return"]] == expected.returns
        assert [rollout["new"]["length"]] == expected.lengths
        assert (rollout["new"]["agrees"] is None) == (seed not in record["revised"]["seeds"])
        for policy in ("old", "new"):
            each = rollout[policy]
            assert len(each["observations"]) == each["length"] + 1
            assert len(each["actions"]) == len(each["rewards"]) == each["length"]
            assert sum(each["rewards"]) == pytest.approx(each["return"], abs=1e-6 * each["length"])
    assert json.loads(json.dumps(found)) == found
    assert len(json.dumps(found)) < 700_000


def written(folder, iteration):
    write_run(folder, [iteration], thresholds=THRESHOLDS)
    return key_of(iteration)


NIM = [1.0] * 11
CANNOT = [
    ({"revised": None, "evidence": None}, "the iteration has no revised candidate"),
    ({"env": "elsewhere"}, "task elsewhere is not known here"),
    ({"variant": "sb3-ppo"}, "a baseline's policy is a network"),
]


def test_what_cannot_be_run_again_says_why(data, tmp_path):
    for place, (changes, reason) in enumerate(CANNOT):
        folder = tmp_path / str(place)
        key = written(folder, {**revision([1, 2, 3], [1, 2, 3], before=NIM, env="nim"), **changes})
        with pytest.raises(NotRerunnableError, match=reason):
            find_revision([folder], key)
    [path] = data.rglob("pong/*/*/episodes.jsonl")
    with pytest.raises(AuditError, match="no iteration 9"):
        find_revision([data], key_of(lines(path)[0])._replace(iteration=9))


def test_a_new_policy_that_cannot_be_run_leaves_the_old_one(tmp_path, aside):
    for after, reason in (
        ([*NIM, 1.0], "12 parameters given, 11 needed"),
        (NIM[:3], "3 parameters given, 11 needed"),
        ([], "no parameters are recorded"),
    ):
        iteration = episode(candidate([-1, -1, -1], NIM), candidate([1, 2, 3], after, "critic"), env="nim")
        folder = tmp_path / str(len(after))
        key = written(folder, iteration)
        [rollout] = side_by_side(find_revision([folder], key), {"worst": 0}, aside)["rollouts"]
        assert rollout["old"]["why"] is None
        assert reason in rollout["new"]["why"]
        assert "\n" not in rollout["new"]["why"]


def test_a_record_that_does_not_come_out_again_is_named(tmp_path, aside):
    key = written(tmp_path, revision([5, 2, 3], [1, 2, 3], before=NIM, after=NIM, env="nim"))
    places = {"worst": 0, "median": 0, "best": 0}  # one rollout may be several
    [rollout] = side_by_side(find_revision([tmp_path], key), places, aside)["rollouts"]
    assert (rollout["label"], rollout["place"]) == ("worst, median and best", 0)
    assert rollout["old"]["agrees"] is False
    assert "return 5.0 recorded, -1.0 replayed" in rollout["old"]["difference"]
