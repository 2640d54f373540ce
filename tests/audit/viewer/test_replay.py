"""The replay's answers: places of the analysis, pictures that are kept, one plain line for what cannot be run."""

from __future__ import annotations

import shutil
import sys

import gymnasium
import pytest
from starlette.testclient import TestClient

from audit.options import Options
from audit.viewer.live import Live
from audit.viewer.server import application
from audit.viewer.session import Session
from audit.vocabulary.keys import RevisionKey
from collector.tasks import TASKS
from tests.audit.samples import THRESHOLDS, candidate, episode, revision, write_run
from tests.collector.helpers import collect, lines, spec

CORRIDOR = [0.0] * 251
MODULE = """
import gymnasium
from collector.tasks.task import TabularSpace, Task, thresholds


class Corridor(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(251)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = 0
        return 0, {}

    def step(self, action):
        self.cell += 1
        return self.cell, 1.0, self.cell == 250, False, {}


gymnasium.register("Corridor-v0", Corridor)
TASK = Task(
    id="corridor",
    gym_id="Corridor-v0",
    space=TabularSpace(states=251, actions=(0, 1, 2)),
    optimum=250.0,
    tau_c=200.0,
    floor=0.0,
    success_return=250.0,
    step_cap=None,
    description="A corridor.",
    thresholds=thresholds(partial=50.0, high=200.0, near_zero=5.0, floor=0.0),
)
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    collect(spec("pong", "threetraj", iterations=3, rollouts=5, warmup=1), root)
    hand = {"condition": "a+b c", "env": "corridor", "variant": "threetraj"}
    seeds = {"lengths": [250] * 3, "seeds": [4, 5, 2**64 - 1]}
    old, new = candidate([250] * 3, CORRIDOR, **seeds), candidate([250] * 3, [1.0] * 251, "critic", **seeds)
    write_run(root / "corridor", [episode(old, new, **hand)], thresholds=THRESHOLDS)
    write_run(root / "baseline", [revision([1, 2, 3], [1, 2, 3], variant="sb3-ppo")], thresholds=THRESHOLDS)
    return root


@pytest.fixture(scope="module")
def session(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    module = folder / "corridor.py"
    module.write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SALIENCE_AUDIT_CACHE", str(folder / "cache"))
        with Session(Options(paths=[data]), task_modules=[module]) as opened:
            yield opened
    del TASKS["corridor"], gymnasium.registry["Corridor-v0"], sys.modules["salience_audit_task_corridor"]


@pytest.fixture(scope="module")
def client(session):
    with TestClient(application(Live(session), "secret", []), base_url="http://127.0.0.1/secret/") as opened:
        yield opened


CORRIDOR_ADDRESS = "api/replay/a%2Bb%20c/corridor/threetraj/1/0"


def pong(data):
    [path] = data.rglob("pong/*/*/episodes.jsonl")
    return lines(path)


def test_the_rollouts_are_those_of_the_analysis(session, data, client):
    evidence = {row["iteration"]: row for row in session.store.rows("evidence") if row["env"] == "pong"}
    for record in pong(data):
        key = RevisionKey(*(record[name] for name in RevisionKey._fields))
        found = client.get("api/replay/" + "/".join(map(str, key))).json()
        places = {
            label: each["place"]
            for each in found["rollouts"]
            for label in ("worst", "median", "best")
            if label in each["label"]
        }
        assert places == {label: evidence[key.iteration][f"{label}_rollout"] for label in ("worst", "median", "best")}
        for each in found["rollouts"]:
            assert each["old"]["agrees"] is True


def test_a_seed_of_64_bits_is_whole(session):
    found = session.replays.replay(RevisionKey("a+b c", "corridor", "threetraj", 1, 0))
    [rollout] = found["rollouts"]
    assert (found["same_seeds"], rollout["new"]["agrees"]) == (True, True)
    assert isinstance(rollout["seed"], str)


def test_what_is_not_there_is_one_line(client):
    for address, status, reason in (
        ("a%2Bb%20c/corridor/threetraj/1/7", 400, "no iteration 7"),
        ("nothing/pong/threetraj/1/0", 404, "no run pong threetraj 1"),
    ):
        answer = client.get(f"api/replay/{address}")
        assert (answer.status_code, reason in answer.json()["error"]) == (status, True)
        assert "\n" not in answer.json()["error"]
    found = client.get("api/replay/hand/cartpole/sb3-ppo/1/0").json()
    assert "a baseline's policy is a network" in found["why"]
    assert found["rollouts"] == []


def test_records_that_went_away_are_a_line(data, client, tmp_path):
    shutil.move(data / "corridor", tmp_path / "moved")
    try:
        answer = client.get(CORRIDOR_ADDRESS)
        assert answer.status_code == 404
        assert answer.json()["error"].startswith("no run corridor threetraj 1 in the records")
    finally:
        shutil.move(tmp_path / "moved", data / "corridor")
