"""The process of its own that a baseline is trained in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from collector.baselines import process
from collector.errors import CollectorError
from tests.collector.baselines.samples import baseline, needs_sb3, record
from tests.collector.helpers import lines


def dies(run, task_modules, sender):
    os._exit(3)


def test_a_training_process_that_dies_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_train", dies)
    with pytest.raises(CollectorError, match=r"the process that trained .*sb3-ppo/run-01 died \(exit status 3\)"):
        record(baseline(), tmp_path, process.train)


TASK_OF_A_USER = """
import dataclasses
import gymnasium
from collector.tasks import get_task

class Lift(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (4,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.floor = 0
        return self.observation_space.sample() * 0, {}

    def step(self, action):
        self.floor += 1
        if self.floor == BREAKS:
            raise RuntimeError("stuck between floors")
        return self.observation_space.sample() * 0, 1.0, self.floor == 5, False, {}

gymnasium.register("Lift-v0", entry_point=Lift)
TASK = dataclasses.replace(get_task("cartpole"), id="lift", gym_id="Lift-v0")
"""


@needs_sb3
@pytest.mark.parametrize(
    ("breaks", "status", "message"), [(99, 0, "complete: "), (3, 1, "task lift: RuntimeError: stuck")]
)
def test_a_task_of_a_user_is_trained_on_and_its_failure_is_one_line(breaks, status, message, tmp_path):
    module = tmp_path / "lift.py"
    module.write_text(TASK_OF_A_USER.replace("BREAKS", str(breaks)))
    command = [sys.executable, "-m", "collector.cli", "--env", "lift", "--task-module", str(module), "--runs", "1"]
    command += ["--variant", "sb3-dqn", "--iterations", "3", "--rollouts", "2", "--out", str(tmp_path / "runs")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == status, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    recorded = [line for path in tmp_path.rglob("episodes.jsonl") for line in lines(path)]
    assert [line["initial"]["returns"] for line in recorded] == ([[5.0, 5.0]] * 3 if status == 0 else [])
