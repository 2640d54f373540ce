"""Tasks that users bring along, good and bad."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from collector.cli import main
from collector.errors import TaskError, UsageError
from collector.rollouts import plain_loop
from collector.rollouts.evaluate import evaluate, is_compiled, replay
from collector.tasks import TASKS, plugins
from collector.tasks.plugins import load_tasks
from tests.collector.helpers import in_process, lines

ROOT = Path(__file__).resolve().parents[3]
ACROBOT = ROOT / "docs" / "examples" / "acrobot.py"
WALK = ROOT / "docs" / "examples" / "walk.py"


pytestmark = pytest.mark.usefixtures("tasks_forgotten")


def test_the_documented_example_is_collected_like_any_other_task(tmp_path):
    command = re.search(r"^collect (--task-module .*)$", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)[1]
    command = command.replace("docs/examples/acrobot.py", str(ACROBOT))
    result = in_process(main, *command.split(), "--rollouts", 2, "--warmup", 2, "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    (path,) = tmp_path.rglob("episodes.jsonl")
    episodes = lines(path)
    assert len(episodes) == 5
    assert all(-500 <= value <= -1 for episode in episodes for value in episode["initial"]["returns"])
    assert {len(episode["initial"]["params"]) for episode in episodes} == {21}  # (6 + 1) · 3


def test_a_users_own_dynamics_are_compiled():
    load_tasks([WALK])
    task = TASKS["walk"]
    assert is_compiled(task)
    for seed in range(50):
        params = [float(seed >> place & 1) for place in range(7)]
        steps = list(plain_loop.steps(task, params, seed))
        trajectory = replay(task, params, seed)
        assert trajectory.observations == [step.observation for step in steps] + [steps[-1].next_observation]
        assert (trajectory.rewards, trajectory.ended) == ([step.reward for step in steps], steps[-1].ended)


ENVIRONMENT = """
import gymnasium
from dataclasses import replace
from collector.tasks.maze import TASK as MAZE, MazeEnv

class Faulty(MazeEnv):
    def step(self, action):
        {body}

gymnasium.register("faulty/{name}-v0", entry_point=Faulty)
TASK = replace(MAZE, id="{name}", gym_id="faulty/{name}-v0")
"""


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("nanny", "return 0, float('nan'), False, False, {}", "the reward of step 1 is nan"),
        ("endless", "return 0, float('inf'), False, False, {}", "the reward of step 1 is inf"),
        ("raising", "raise RuntimeError('out of order')", "RuntimeError: out of order"),
    ],
)
def test_an_environment_that_fails_stops_its_run_in_one_line(name, body, message, tmp_path):
    module = tmp_path / f"{name}.py"
    module.write_text(ENVIRONMENT.format(name=name, body=body))
    load_tasks([module])
    with pytest.raises(TaskError, match=f"task {name}, seed 7: {message}"):
        evaluate(TASKS[name], [0.0] * 9, [7])
    arguments = ["--task-module", module, "--env", name, "--env", "maze", "--variant", "r2po", "--runs", 1]
    result = in_process(main, *arguments, "--iterations", 2, "--out", tmp_path / "runs")
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert re.match(rf"collect: 1 of 2 runs stopped; the first: task {name}, seed \d+: {message}", last)
    assert "Traceback" not in result.stderr
    assert len(lines(next(tmp_path.rglob("maze/*/*/episodes.jsonl")))) == 2


REFUSED = {
    "raises when imported": ("x = 1\nraise RuntimeError('oops')", r"bad\.py:2: RuntimeError: oops"),
    "is no Python": ("def", r"bad\.py.*SyntaxError"),
    "holds no task": ("x = 1", r"bad\.py holds no TASK"),
    "holds something else": ("TASK = 'maze'", r"bad\.py holds no TASK of type"),
    "takes a name that is taken": (
        "from dataclasses import replace\nfrom collector.tasks.maze import TASK as M\nTASK = replace(M, optimum=2.0)",
        r"bad\.py: there is a task 'maze' already",
    ),
}


def test_a_module_that_cannot_be_used_is_refused_in_one_line(tmp_path):
    for number, (text, message) in enumerate(REFUSED.values()):
        module = tmp_path / str(number) / "bad.py"
        module.parent.mkdir()
        module.write_text(text)
        with pytest.raises(UsageError, match=message) as error:
            load_tasks([module])
        assert "\n" not in str(error.value)
        result = in_process(main, "--task-module", module, "--env", "maze", "--variant", "r2po")
        assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    (tmp_path / "itself.py").symlink_to("itself.py")
    for name in ("nothing", "itself"):
        with pytest.raises(UsageError, match=rf"{name}\.py is no Python file"):
            load_tasks([tmp_path / f"{name}.py"])
    assert load_tasks([ACROBOT]) == load_tasks([ACROBOT]) == ["acrobot"]


def test_installed_packages_are_looked_for_once(monkeypatch):
    looked = []
    plugins._offered.cache_clear()
    monkeypatch.setattr(plugins, "entry_points", lambda group: looked.append(group) or [])
    assert [load_tasks(), load_tasks()] == [[], []]
    assert looked == [plugins.GROUP]
    monkeypatch.syspath_prepend("/nonexistent/packages")
    load_tasks()
    assert len(looked) == 2
    plugins._offered.cache_clear()


def test_an_installed_package_offers_a_task_through_an_entry_point(tmp_path, monkeypatch):
    """A package as an installer leaves it: its module, and the metadata that names it."""
    (tmp_path / "acrobot_package.py").write_text(ACROBOT.read_text())
    metadata = tmp_path / "acrobot_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acrobot-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[salience_audit.tasks]\nacrobot = acrobot_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    small = ["--env", "acrobot", "--variant", "r2po", "--runs", "1", "--iterations", "1", "--rollouts", "2"]
    result = in_process(main, *small, "--out", tmp_path / "runs")
    assert result.returncode == 0, result.stderr
    assert len(list((tmp_path / "runs").rglob("acrobot/r2po/run-01/run.json"))) == 1
