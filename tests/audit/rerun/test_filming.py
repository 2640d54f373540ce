"""Pictures of rollouts: which states, which tasks, and that each picture is of its state."""

from __future__ import annotations

import io
import signal
import sys

import gymnasium
import numpy as np
import pytest
from PIL import Image

from audit.rerun import filming
from audit.rerun.aside import Aside, AsideError
from audit.rerun.rollouts import load_tasks
from collector.errors import TaskError
from collector.tasks import TASKS

MODULE = '''\
"""A corridor whose cells are grey: the further, the lighter."""

import os

import gymnasium
import numpy as np

from collector.tasks.task import TabularSpace, Task, thresholds


class Corridor(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    observation_space = gymnasium.spaces.Discrete(251)
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cell = 0
        return 0, {}

    def step(self, action):
        self.cell += 1
        return self.cell, 1.0 + (action == 2 and self.render_mode is not None), self.cell == 250, False, {}

    def render(self):
        if os.environ.get("CORRIDOR") == "abort":
            os.abort()
        return np.full((30, 480, 3), self.cell, dtype=np.uint8)


gymnasium.register("Corridor-v0", Corridor)
TASK = Task(
    id="filmed-corridor",
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
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "filmed_corridor.py"
    path.write_text(MODULE)
    load_tasks([path])
    yield path
    del TASKS["filmed-corridor"], gymnasium.registry["Corridor-v0"], sys.modules["salience_audit_task_filmed_corridor"]


@pytest.mark.parametrize("length", [1, 2, 119, 120, 121, 238, 239, 999, 1000, 100_000])
def test_filmed_states_are_few_evenly_spaced_and_whole(length):
    states = filming.filmed_states(length)
    assert len(states) <= filming.MOST
    assert (states[0], states[-1]) == (0, length)
    gaps = np.diff(states)
    assert (gaps[:-1] == gaps[0]).all()
    assert gaps[-1] <= gaps[0]
    if length < filming.MOST:
        assert states == list(range(length + 1))


def test_each_picture_is_of_its_state(module):
    image = Image.open(io.BytesIO(filming.film(TASKS["filmed-corridor"], [0.0] * 251, 1)))
    states = filming.filmed_states(250)
    width, height = 240, 15
    assert image.size == (filming.COLUMNS * width, -(-len(states) // filming.COLUMNS) * height)
    pixels = np.asarray(image.convert("L"))
    for place, state in enumerate(states):
        row, column = divmod(place, filming.COLUMNS)
        assert float(pixels[row * height + 7, column * width + 120]) == pytest.approx(float(state), abs=3)


def test_a_film_of_another_rollout_is_refused(module):
    with pytest.raises(TaskError, match="the environment differs when it renders"):
        filming.film(TASKS["filmed-corridor"], [2.0] * 251, 1)


@pytest.mark.slow
def test_a_renderer_that_ends_the_process_is_survived(module, monkeypatch):
    monkeypatch.setenv("CORRIDOR", "abort")
    with Aside([module]) as aside, pytest.raises(AsideError, match=f"ended with status {-signal.SIGABRT}"):
        aside.run(filming.film, TASKS["filmed-corridor"], [0.0] * 251, 1, seconds=120)


@pytest.mark.parametrize("task", ["nim", "pong", "maze"])
def test_tasks_of_the_projects_own_are_not_rendered(task):
    assert filming.unfilmable(TASKS[task]) == filming.NONE


@pytest.mark.parametrize("task", ["cartpole", "frozenlake", "mountaincar", "mountaincarcontinuous"])
def test_a_missing_pygame_is_named_beforehand(task, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert filming.unfilmable(TASKS[task]) == filming.NEEDS_PYGAME


def test_a_missing_opengl_is_named_beforehand(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    assert filming.unfilmable(TASKS["swimmer"]) == filming.NEEDS_OPENGL


@pytest.mark.slow
@pytest.mark.parametrize("task", ["cartpole", "frozenlake", "mountaincar", "mountaincarcontinuous", "invertedpendulum"])
def test_gymnasiums_tasks_are_filmed(task):
    if (reason := filming.unfilmable(TASKS[task])) is not None:
        pytest.skip(reason)
    with Aside() as aside:
        params = [0.0] * TASKS[task].space.size
        try:
            image = Image.open(io.BytesIO(aside.run(filming.film, TASKS[task], params, 3, seconds=300)))
        except (AsideError, ImportError, AttributeError) as error:
            if task != "invertedpendulum":
                raise
            pytest.skip(f"MuJoCo cannot render here: {error}")
    assert image.format == "WEBP"
    assert np.asarray(image).std() > 0
