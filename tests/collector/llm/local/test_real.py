"""The whole path with a real language model on this machine: its answers ramble, break off and go in circles."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from collector.errors import CollectorError, UsageError
from collector.llm.backends import make_model
from collector.llm.local.model import BATCH
from collector.llm.local.packaged import find_model
from collector.methods import METHODS
from collector.records import Call, Episode, decode, decode_run


def _missing() -> str | None:
    if find_spec("xllamacpp") is None:
        return "llama.cpp is not installed (make local)"
    try:
        find_model("smollm2")
    except UsageError:
        return "the model smollm2 is not installed (make local)"
    return None


REASON = _missing()
pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

# One thread: several tests run at once, and threads of one model that wait for one another do not share a core well.
TASK = ("--env", "nim", "--iterations", "2", "--warmup", "2", "--rollouts", "2", "--runs", "1", "--max-tokens", "128")
SMALL = ("--backend", "local", "--threads", "1", *TASK)
TIMED = {"seconds", "started_at"}


def run(program: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"from {program}.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500, **options)


def collect(out: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    result = run("collector", *SMALL, "--out", out, *arguments)
    assert "Traceback" not in result.stderr
    return result


def lines(out: Path, name: str) -> list[bytes]:
    return [line for path in sorted(out.glob(f"*/*/*/*/{name}")) for line in path.read_bytes().splitlines()]


def calls(out: Path) -> list[Call]:
    return [decode(line, Call) for line in lines(out, "calls.jsonl")]


def timeless(out: Path) -> list[object]:
    """All records without what the clock decides."""
    records = [json.loads(line) for name in ("calls.jsonl", "episodes.jsonl") for line in lines(out, name)]
    return [{key: value for key, value in record.items() if key not in TIMED} for record in records]


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """An iteration of every method, with enforced form."""
    out = tmp_path_factory.mktemp("everything")
    result = collect(out, "--variant", "all", "--iterations", "1")
    assert result.returncode == 0, result.stderr
    return out


def test_every_method_runs_to_its_end_and_every_answer_can_be_read(everything):
    episodes = [decode(line, Episode) for line in lines(everything, "episodes.jsonl")]
    assert sorted({episode.variant for episode in episodes}) == sorted(METHODS)
    assert len(episodes) == len(METHODS)
    made = calls(everything)
    assert [call.error for call in made] == [None] * len(made)
    assert all(call.prompt_tokens > 100 and 0 < call.completion_tokens <= 128 for call in made)
    assert all(call.mean_logprob < 0 for call in made)


def test_run_json_states_what_the_model_is(everything):
    record = decode_run(next(everything.glob("*/*/*/*/run.json")).read_bytes())
    assert (record.backend, record.model) == ("local", "smollm2")
    assert record.options["file"]["name"].endswith(".gguf")
    assert record.options["reproducible"] is True
    assert record.versions["xllamacpp"] != "unknown"


def test_real_answers_are_audited(everything):
    for command in ("check", "salience", "patterns", "revisions", "controls", "noise"):
        result = run("audit", command, everything, "--format", "json", "--no-cache")
        assert result.returncode == 0, (command, result.stderr)
    assert "simulated" not in run("audit", "salience", everything, "--no-cache").stdout


def test_a_local_judge_gives_verdicts_that_can_be_read(everything, tmp_path):
    judgements = tmp_path / "judgements.jsonl"
    options = ("--backend", "local", "--threads", "1", "--max-tokens", "200", "--sample", "3", "--out", judgements)
    result = run("audit", "judge", everything, *options, "--yes")
    assert result.returncode == 0, result.stderr
    judged = [json.loads(line) for line in judgements.read_text().splitlines() if "driver" in json.loads(line)]
    assert len(judged) == 3
    assert all(each["driver"] for each in judged), [each["error"] for each in judged]


def test_the_same_command_gives_the_same_records_also_after_a_kill_within_an_answer(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert collect(whole, "--variant", "threetraj").returncode == 0
    command = [sys.executable, "-m", "collector.cli", *SMALL, "--out", str(killed), "--variant", "threetraj"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and len(lines(killed, "calls.jsonl")) < 2:
            time.sleep(0.05)
        time.sleep(1)  # within the third answer, which takes longer
        process.kill()
    assert 2 <= len(lines(killed, "calls.jsonl")) < len(lines(whole, "calls.jsonl"))
    assert collect(killed, "--variant", "threetraj").returncode == 0
    assert timeless(killed) == timeless(whole)


def test_several_runs_share_one_model(tmp_path):
    result = collect(tmp_path, "--variant", "threetraj", "--runs", "3", "--iterations", "1", "--concurrency", "3")
    assert result.returncode == 0, result.stderr
    assert len(lines(tmp_path, "episodes.jsonl")) == 3
    records = [decode_run(path.read_bytes()) for path in tmp_path.glob("*/*/*/*/run.json")]
    assert [record.options["reproducible"] for record in records] == [False] * 3


def test_without_a_form_a_weak_model_is_a_result_too(tmp_path):
    result = collect(tmp_path, "--variant", "threetraj", "--free", "--on-unreadable", "skip")
    assert result.returncode == 0, result.stderr
    reasons = [call.error for call in calls(tmp_path)]
    assert any(reasons), "a model of 135 million parameters writes no vector of its own accord"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_within_an_answer_is_one_line_and_loses_nothing(tmp_path, number):
    command = [sys.executable, "-m", "collector.cli", *SMALL, "--out", str(tmp_path), "--variant", "threetraj"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not lines(tmp_path, "calls.jsonl"):
            time.sleep(0.05)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "collect: stopped; nothing is lost, the same command goes on from here"
    assert "Traceback" not in errors
    assert calls(tmp_path)


def ask(prompt: str, **options: object) -> object:
    async def asked() -> object:
        model = make_model("local", threads=1, **options)
        try:
            return await model.complete(prompt, seed=3)
        finally:
            await model.aclose()

    return asyncio.run(asked())


def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers():
    with pytest.raises(
        CollectorError, match=r"the prompt has \d,\d{3} tokens and the context 512; give a larger --num-ctx"
    ):
        ask("word " * 2000, num_ctx=512)


def test_probabilities_are_those_of_the_tokens_of_the_answer():
    answer = ask("Name eleven numbers.", max_tokens=20)
    assert (
        "".join(token for token, _ in answer.logprobs) == answer.text
    )  # under a schema, those of a fence are left out
    assert len(answer.logprobs) == answer.completion_tokens == 20
    assert answer.cut == "cut off after 20 tokens"


def test_a_damaged_model_is_one_line(tmp_path):
    whole = find_model("smollm2").read_bytes()
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(whole[:-1000])
    result = collect(tmp_path / "out", "--variant", "threetraj", "--model", damaged)
    assert result.returncode == 1
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("collect: ")]
    assert f"cannot load {damaged}" in line


@pytest.fixture(scope="module")
def server():
    """The same model behind llama.cpp's own server on the loopback, which keeps nothing of earlier prompts."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(find_model("smollm2"))
    params.model_alias = {"smollm2"}
    params.n_ctx, params.n_parallel, params.verbosity, params.cache_ram_mib = 8192, 1, -1, 0
    params.n_batch = params.n_ubatch = BATCH
    params.cache_prompt = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield xllamacpp.Server(params)
    for number, handler in zip((signal.SIGINT, signal.SIGTERM), handlers, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("form", ["--structured", "--free"])
def test_a_server_with_the_same_model_gives_the_same_answers(server, tmp_path, form):
    rest = ("--variant", "threetraj", "--iterations", "1", "--condition", "same", "--on-unreadable", "skip", form)
    own, served = tmp_path / "local", tmp_path / "openai"
    assert collect(own, *rest).returncode == 0
    client = ("--backend", "openai", "--base-url", f"{server.listening_address}/v1", "--model", "smollm2")
    result = run("collector", *TASK, *client, *rest, "--out", served)
    assert result.returncode == 0, result.stderr
    answers = [[(call.role, call.attempt, call.completion, call.error) for call in calls(out)] for out in (own, served)]
    assert answers[0] == answers[1]
    assert len(answers[0]) >= 2
