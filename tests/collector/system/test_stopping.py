"""How commands end: a worker killed, Ctrl-C at any moment, too little memory, code that never ends."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collector.cli import main as collect
from collector.system.processes import Process
from tests.collector.helpers import in_process, timeless

SLOW = pytest.mark.slow
SCRIPT = "from {0}.cli import main; main()"
STOPPED = "collect: stopped; nothing is lost, the same command goes on from here"

TASK = """
import multiprocessing, os, pathlib, signal, sys, time
from dataclasses import replace
import gymnasium
from collector.tasks.maze import TASK as MAZE, MazeEnv

is_worker = multiprocessing.parent_process() is not None
IMPORT

class Env(MazeEnv):
    def step(self, action):
        STEP
        return super().step(action)

gymnasium.register("testing/workers-v0", entry_point=Env)
TASK = replace(MAZE, id="workers", gym_id="testing/workers-v0", dynamics=None)
"""
KILLED = "if is_worker: os.kill(os.getpid(), signal.SIGKILL)"
LATE = "time.sleep(0.001)"
"""So that verifying takes longer than it does before it starts workers."""


@pytest.fixture
def module(tmp_path):
    def write(step="pass", imported="pass"):
        path = tmp_path / "task.py"
        path.write_text(TASK.replace("STEP", step).replace("IMPORT", imported))
        return path

    return write


def command(program, *arguments):
    return [sys.executable, "-c", SCRIPT.format(program), *map(str, arguments)]


def settings(module, out, *more):
    size = ("--runs", 2, "--iterations", 25, "--rollouts", 4)
    return ("--env", "workers", "--variant", "r2po", "--task-module", module, "--out", out, *size, *more)


def collecting(module, out, *more):
    return command("collector", *settings(module, out, "--quiet", *more))


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, **options)


def printed(result):
    """Lines on standard error but those that report how rollouts of the task are run."""
    return [line for line in result.stderr.splitlines() if "task workers" not in line and "testing/" not in line]


pytestmark = pytest.mark.usefixtures("tasks_forgotten")

LOST = "a worker process was killed, for want of memory perhaps"


def test_a_worker_that_is_killed_is_told_in_one_line(module, tmp_path):
    stopped = in_process(collect, *settings(module(KILLED), tmp_path, "--quiet", "--workers", 1), workers=Process)
    assert (stopped.returncode, len(printed(stopped))) == (1, 1), stopped.stderr
    assert printed(stopped)[0].startswith(f"collect: {LOST}; ")


@pytest.mark.slow
def test_a_killed_worker_ends_verify_in_one_line(module, tmp_path):
    """And `collect`; the same command goes on."""
    stopped = run(collecting(module(KILLED), tmp_path / "killed"))
    assert (stopped.returncode, len(printed(stopped))) == (1, 1), stopped.stderr
    assert printed(stopped)[0].startswith(f"collect: {LOST}; ")
    path = module()
    for out in ("killed", "whole"):
        assert run(collecting(path, tmp_path / out, "--runs", 4)).returncode == 0
    assert timeless(tmp_path / "killed") == timeless(tmp_path / "whole")
    module(f"{KILLED}\n        {LATE}")
    stopped = run(command("audit", "verify", "--all", "--task-module", path, tmp_path / "whole"))
    assert (stopped.returncode, printed(stopped)) == (1, [f"audit: {LOST}"])


def wait_for(path):
    deadline = time.monotonic() + 100
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert path.exists()


def stop(command, reached, kind, *, whole=False, **options):
    """Send a signal to a command, or to all its processes, once it has got somewhere; how it ended."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
    try:
        wait_for(reached)
        os.killpg(process.pid, kind) if whole or kind == signal.SIGINT else process.send_signal(kind)
        _, errors = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, None, errors)


@pytest.mark.slow
@pytest.mark.parametrize("program", ["collect", "verify"])
def test_ctrl_c_while_workers_start_is_one_line(program, module, tmp_path):
    """The interpreters of worker processes wait for ever as they start, as long imports would have them."""
    reached = tmp_path / "reached"
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, pathlib, time\n"
        "if '--multiprocessing-fork' in sys.orig_argv:\n"
        f"    pathlib.Path({str(reached)!r}).touch(); time.sleep(3600)"
    )
    path = module()
    if program == "verify":
        assert run(collecting(path, tmp_path / "runs", "--runs", 4)).returncode == 0
        module(LATE)
    whole = collecting(path, tmp_path / "runs")
    if program == "verify":
        whole = command("audit", "verify", "--all", "--task-module", path, tmp_path / "runs")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    stopped = stop(whole, reached, signal.SIGINT, env=environment)
    expected = STOPPED if program == "collect" else "audit: interrupted"
    assert (stopped.returncode, printed(stopped)) == (130, [expected])


ENDLESS = {
    "rollout": ("step", "while True: pathlib.Path(REACHED).touch()"),
    "import": ("imported", "while True: pathlib.Path(REACHED).touch()"),
    "import that nothing stops": (
        "imported",
        "while True:\n    try:\n        pathlib.Path(REACHED).touch()\n    except BaseException:\n        pass",
    ),
    "import in a worker": ("imported", "while is_worker: pathlib.Path(REACHED).touch()"),
}


KINDS = [signal.SIGINT, signal.SIGTERM]

WATCHED = """
import pathlib, sys
from collector.cli.command import run_command
from collector.system import stopping

def command(**_):
    while True:
        try:
            pathlib.Path(sys.argv[1]).touch()
        except BaseException:
            pass

stopping.PATIENCE = 0.1
run_command(command, "collect", "collect")
"""


def test_what_nothing_else_stops_is_stopped_by_the_watch(tmp_path):
    reached = tmp_path / "reached"
    stopped = stop([sys.executable, "-c", WATCHED, str(reached)], reached, signal.SIGTERM)
    assert (stopped.returncode, stopped.stderr.splitlines()) == (130, [STOPPED])


STOPPED_QUICKLY = ("import", signal.SIGINT)
ENDINGS = [
    pytest.param(*ENDLESS[name], kind, id=f"{name}-{kind.name}", marks=[] if (name, kind) == STOPPED_QUICKLY else SLOW)
    for name in ENDLESS
    for kind in KINDS
]


@pytest.mark.parametrize(("where", "code", "kind"), ENDINGS)
def test_a_task_that_never_ends_is_stopped(where, code, kind, module, tmp_path):
    reached = tmp_path / "reached"
    path = module(**{where: code.replace("REACHED", repr(str(reached)))})
    stopped = stop(collecting(path, tmp_path / "runs"), reached, kind)
    assert (stopped.returncode, printed(stopped)) == (130, [STOPPED])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_all_processes_is_no_want_of_memory(kind, module, tmp_path):
    """As a scheduler or a closed terminal sends it."""
    reached = tmp_path / "reached"
    path = module(step="pathlib.Path(REACHED).touch(); time.sleep(0.01)".replace("REACHED", repr(str(reached))))
    for _ in range(3):
        reached.unlink(missing_ok=True)
        stopped = stop(collecting(path, tmp_path / "runs"), reached, kind, whole=True)
        assert (stopped.returncode, printed(stopped)) == (130, [STOPPED])
    path = module()
    assert run(collecting(path, tmp_path / "runs")).returncode == 0
    module(step="pathlib.Path(REACHED).touch(); time.sleep(0.01)".replace("REACHED", repr(str(reached))))
    reached.unlink()
    verifying = command("audit", "verify", "--all", "--task-module", path, tmp_path / "runs")
    stopped = stop(verifying, reached, kind, whole=True)
    assert (stopped.returncode, printed(stopped)) == (130, ["audit: interrupted"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_template_that_never_ends_is_stopped(kind, tmp_path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "search.j2").write_text(
        "{{ history }}{{ iteration }}{{ optimum }}"
        "{% if history|length > 2 %}"  # as when it is tried out
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}"
        "{% endfor %}{% endif %}"
    )
    settings = ("--env", "maze", "--variant", "r2po", "--runs", 1, "--prompts", tmp_path / "templates", "--out")
    whole = command("collector", *settings, tmp_path / "runs", "--condition", "endless")
    reached = tmp_path / "runs" / "endless" / "maze" / "r2po" / "run-01" / "run.json"  # written before the first prompt
    stopped = stop(whole, reached, kind)
    assert (stopped.returncode, stopped.stderr.splitlines()) == (130, [STOPPED])


RAISED = {
    "SystemExit": "SystemExit('a\\x1b[31m\\nb')",
    "GeneratorExit": "GeneratorExit('a\\x1b[31m\\nb')",
    "Stop": "type('Stop', (KeyboardInterrupt,), {})('a\\x1b[31m\\nb')",
    "Own": "type('Own', (BaseException,), {})('a\\x1b[31m\\nb')",
}


@pytest.mark.parametrize("place", ["here", pytest.param("elsewhere", marks=SLOW)])
@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("where", ["imported", "step"])
def test_whatever_a_task_raises_is_one_line_without_control_characters(where, error, place, module, tmp_path):
    # Workers are threads here, and two of them would load the task at the same time.
    given = settings(module(**{where: f"raise {RAISED[error]}"}), tmp_path / "runs", "--workers", 1)
    stopped = in_process(collect, *given) if place == "here" else run(command("collector", *given))
    assert stopped.returncode == (2 if where == "imported" else 1), stopped.stderr
    assert f"{error}: a\\x1b[31m b" in stopped.stderr.splitlines()[-1]
    assert "\x1b" not in stopped.stderr
    assert "Traceback" not in stopped.stderr


COMMANDS = {
    "audit": command("audit", "summary", "nowhere"),
    "stats": command("stats", "metrics", "nowhere"),
    "figures": command("figures", "nowhere"),
    "collect": command("collector", "--env", "cartpole", "--variant", "r2po"),
    "paper": command("collector.grid", "--dry-run"),
}


@pytest.mark.parametrize(
    "name", ["collect", *(pytest.param(name, marks=SLOW) for name in COMMANDS if name != "collect")]
)
def test_too_little_address_space_is_said_in_one_line(name, tmp_path):
    limit = 400_000 * 1024
    result = run(
        COMMANDS[name], cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    )
    assert (result.returncode, result.stdout) == (1, "")
    [line] = result.stderr.splitlines()
    assert line.startswith(f"{name}: the limit of 410 MB on address space is too low")
    assert not list(Path(tmp_path).iterdir())
