"""What docs/cluster.md shows is run as it is, with what a scheduler would set."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collector.cli import main
from tests.collector.cli.test_shards import merged, records
from tests.collector.helpers import in_process

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cluster.md"
SCRIPTS = ROOT / "docs" / "examples" / "cluster"
SWEEP = ["--env", "nim", "--variant", "props", "--variant", "threetraj", "--runs", "2"]
SIZE = ["--iterations", "2", "--rollouts", "3", "--warmup", "3"]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The records of one process."""
    out = tmp_path_factory.mktemp("whole")
    assert in_process(main, *SWEEP, *SIZE, "--out", out, "--quiet").returncode == 0
    return records(out)


@pytest.fixture
def environment(tmp_path):
    """Variables with which `collect` and the scheduler's commands are found, the latter only noting their arguments."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, lines in {
        "collect": f'exec "{sys.executable}" -m collector.cli "$@"',
        "scontrol": f'echo "$@" >> "{tmp_path}/scontrol.arguments"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{lines}\n")
        (programs / name).chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "NUMBA_DISABLE_JIT": "1",  # plain loops give the same bits, and need no time to compile
    }


def run(command, environment, **variables):
    done = subprocess.run(
        command, env={**environment, **variables}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("name", sorted(path.name for path in SCRIPTS.iterdir() if path.is_file()))
def test_scripts_are_quoted_as_they_are(name):
    assert f"```{{literalinclude}} examples/cluster/{name}\n" in PAGE.read_text()
    assert f"(examples/cluster/{name})" in PAGE.read_text()


@pytest.mark.slow
def test_the_array_job(environment, whole, tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for number, out in enumerate(folders, start=1):
        slurm = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_JOB_ID": f"70{number}", "SHARDS": "2", "OUT": str(out)}
        run(["bash", SCRIPTS / "slurm.sh", *SWEEP, *SIZE], environment, **slurm)
    assert records(merged(tmp_path / "merged", folders)) == whole
    assert not (tmp_path / "scontrol.arguments").exists()


def test_a_failure_is_the_job_s_and_is_not_queued_again(environment, tmp_path):
    command = ["bash", SCRIPTS / "slurm.sh", "--env", "nowhere", "--variant", "props"]
    slurm = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_JOB_ID": "7", "OUT": str(tmp_path / "out")}
    done = subprocess.run(command, env={**environment, **slurm}, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "scontrol.arguments").exists()


@pytest.mark.slow
def test_the_array_job_is_queued_again_before_its_time_is_up(environment, tmp_path):
    sweep = ["--env", "nim", "--variant", "props", "--runs", "1", "--iterations", "500", "--rollouts", "20"]
    slurm = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_JOB_ID": "77", "SHARDS": "1", "OUT": str(tmp_path / "out")}
    command = ["bash", SCRIPTS / "slurm.sh", *sweep]
    process = subprocess.Popen(command, env={**environment, **slurm}, cwd=ROOT, stderr=subprocess.DEVNULL)
    while not list(tmp_path.glob("out/*/nim/props/run-01/episodes.jsonl")) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGUSR1)
    assert process.wait() == 0
    assert (tmp_path / "scontrol.arguments").read_text() == "requeue 77\n"
    [lines] = tmp_path.glob("out/*/nim/props/run-01/episodes.jsonl")
    assert 0 < len(lines.read_bytes().splitlines()) < 500
    run(command, environment, **slurm)
    assert len(lines.read_bytes().splitlines()) == 500


def test_the_array_fits_the_number_of_shards():
    script = (SCRIPTS / "slurm.sh").read_text()
    assert re.search(r"--array=1-(\d+)", script)[1] == re.search(r"SHARDS:-(\d+)", script)[1]


@pytest.mark.slow
def test_the_indexed_job(environment, whole, tmp_path):
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((SCRIPTS / "kubernetes.yaml").read_text())
    assert (job["apiVersion"], job["kind"], job["spec"]["completionMode"]) == ("batch/v1", "Job", "Indexed")
    pod = job["spec"]["template"]["spec"]
    [container] = pod["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]}
    assert int(variables["SHARDS"]) == job["spec"]["completions"]
    assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    assert variables["OUT"].startswith("/data/")
    shell, flag, line = container["command"]
    backend = "--env all --variant all --backend openai --base-url http://vllm:8000/v1 --model NAME"
    assert backend in line
    line = line.replace(backend, shlex.join([*SWEEP, *SIZE]))
    for index in (0, 1):
        own = {"JOB_COMPLETION_INDEX": str(index), "SHARDS": "2", "OUT": str(tmp_path / "out")}
        run([shell, flag, line], environment, **own)
    assert records(tmp_path / "out") == whole


STUB = """
def init(): pass
def get(results): return list(results)
def remote(**options):
    assert options == {"num_cpus": 1, "max_retries": 10}
    class Task:
        def __init__(self, function): self.remote = function
    return Task
"""


@pytest.mark.slow
def test_the_ray_job(environment, whole, tmp_path):
    """With a stub in place of Ray, which is asked for nothing but to call a function elsewhere."""
    (tmp_path / "ray.py").write_text(STUB)
    command = [sys.executable, str(SCRIPTS / "ray_job.py"), "2", "1", *SWEEP, *SIZE, "--out", str(tmp_path / "out")]
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    run(command, environment, PYTHONPATH=path)
    assert records(tmp_path / "out") == whole
    command[command.index("--runs") + 1] = "none"
    done = subprocess.run(command, env={**environment, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "shards that stopped: 1, 2; submit the job again"


@pytest.mark.slow
def test_lines_for_gnu_parallel_and_xargs(environment, whole, tmp_path):
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("seq 16 | ")]
    assert len(lines) == 3
    for program in ("parallel", "xargs"):
        if shutil.which(program) is None:
            continue
        line = next(line for line in lines if f"| {program}" in line)
        line = line.replace("--env all --variant sb3-all", shlex.join([*SWEEP, *SIZE])).replace("16", "2")
        run(["bash", "-c", line.replace("data/runs", shlex.quote(str(tmp_path / program)))], environment)
        assert records(tmp_path / program) == whole
