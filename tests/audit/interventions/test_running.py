"""Every call of a plan is made once, whatever happens to the machine, the model or the files meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from audit.asking import answer_file
from audit.asking.answer_file import AnswerFile
from audit.interventions.answers import ANSWERS
from audit.interventions.plan import read_plan, write_plan
from audit.sources.intake import LONGEST_LINE
from collector.llm.simulated import SimulatedModel
from tests.audit.interventions.planned import CALLS, TINY, answers_of, audit, last_line, lines, plan, run, timeless


@pytest.fixture(scope="module")
def finished(records, tmp_path_factory):
    """A tiny experiment, run without a break."""
    path = tmp_path_factory.mktemp("finished") / "plan.json"
    plan(records, path, *TINY)
    result = audit("intervene", "run", path, "--concurrency", 1)
    assert result.exit_code == 0, result.stderr
    assert len(lines(answers_of(path))) == CALLS
    return path


@pytest.fixture
def tiny(finished, records, tmp_path):
    """The same experiment, not run yet: its plan is of the same bytes, beside a link that its data are found by."""
    path = tmp_path / "a" / "plan.json"
    path.parent.mkdir()
    shutil.copy(finished, path)
    place = path.parent / read_plan(path).data[0]
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(records)
    return path


@pytest.fixture
def asked(monkeypatch):
    """Seeds of all calls of the simulated critic."""
    seeds = []
    complete = SimulatedModel.complete

    async def counted(self, prompt, *, seed, form=None):
        seeds.append(seed)
        return await complete(self, prompt, seed=seed, form=form)

    monkeypatch.setattr(SimulatedModel, "complete", counted)
    return seeds


def test_answers_are_those_of_the_plan(finished):
    read = read_plan(finished)
    answers = lines(answers_of(finished))
    assert [each["order"] for each in answers] == list(range(CALLS))
    calls = [(call.unit, call.arm, call.replicate) for call in read.calls()]
    places = {(*unit.key,): place for place, unit in enumerate(read.units)}
    key = ("condition", "env", "variant", "run", "iteration")
    assert [(places[tuple(each[name] for name in key)], each["arm"], each["replicate"]) for each in answers] == calls
    assert {each["plan_sha256"] for each in answers} == {read.sha256}
    for each in answers:
        assert (each["prompt_sha256"] == each["base_prompt_sha256"]) == (each["arm"] == "A0")
        assert "prompt" not in each


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_run_that_stops_at_every_call_goes_on_to_the_same_file(finished, tiny, asked, monkeypatch, failure):
    append_lines = answer_file.append_lines
    for calls in range(CALLS):

        def stopping(file, lines, calls=calls):
            if answers_of(tiny).read_bytes().count(b"\n") < calls:
                return append_lines(file, lines)
            if failure is KeyboardInterrupt:
                raise failure
            return 0, failure(28, "No space left on device")

        monkeypatch.setattr(answer_file, "append_lines", stopping)
        stopped = run(tiny)
        assert stopped.exit_code == (130 if failure is KeyboardInterrupt else 1)
        assert "Traceback" not in stopped.stderr
        # A file without an answer does not stay.
        assert (len(lines(answers_of(tiny))) if answers_of(tiny).exists() else 0) == calls
        # The answer that was lost is asked for once more, and no other.
        assert len(asked) == 2 * calls + 1
    monkeypatch.setattr(answer_file, "append_lines", append_lines)
    for _ in range(2):
        assert run(tiny).exit_code == 0
        assert timeless(answers_of(tiny)) == timeless(answers_of(finished))
        assert set(Counter(asked).values()) == {2}


KILLED = """
import os, signal, sys
import audit.asking.answer_file as answer_file
from audit.cli import app
append_lines, left = answer_file.append_lines, [int(sys.argv.pop())]

def dying(file, lines):
    if left[0] == 0:
        file.write(lines[0][: len(lines[0]) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return append_lines(file, lines)

answer_file.append_lines = dying
app()
"""


@pytest.mark.slow
@pytest.mark.parametrize("calls", [0, 5])
def test_a_killed_run_goes_on_behind_its_last_whole_line(finished, tiny, asked, calls):
    command = [sys.executable, "-c", KILLED, "intervene", "run", str(tiny), "--concurrency", "1", str(calls)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[3])
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not answers_of(tiny).read_bytes().endswith(b"\n")
    resumed = run(tiny)
    assert resumed.exit_code == 0
    assert len(asked) == CALLS - calls
    assert timeless(answers_of(tiny)) == timeless(answers_of(finished))


@pytest.mark.parametrize("tail", [b"\0" * 100, b"{", b'{"schema":1,"plan_sha256":"'])
def test_torn_ends_are_cut_off(finished, tiny, tail):
    whole = answers_of(finished).read_bytes().splitlines(keepends=True)
    answers_of(tiny).write_bytes(b"".join(whole[:5]) + tail)
    assert run(tiny).exit_code == 0
    assert timeless(answers_of(tiny)) == timeless(answers_of(finished))


def test_more_calls_in_flight_give_the_same_answers(finished, tiny):
    assert audit("intervene", "run", tiny, "--concurrency", 8).exit_code == 0
    assert sorted(timeless(answers_of(tiny)), key=lambda each: each["order"]) == timeless(answers_of(finished))


def test_files_that_cannot_be_written_are_left_alone(tiny):
    with AnswerFile(answers_of(tiny), ANSWERS):
        assert "is being written by another process" in last_line(run(tiny))
    answers_of(tiny).write_bytes(b"my diary")
    assert "name another place" in last_line(run(tiny)) or "holds no answer" in last_line(run(tiny))
    assert answers_of(tiny).read_bytes() == b"my diary"
    answers_of(tiny).unlink()
    answers_of(tiny).mkdir()
    assert "Is a directory" in last_line(run(tiny))


def test_answers_to_another_plan_are_refused(finished, tiny, asked):
    path = tiny.with_name("other.json")
    write_plan(msgspec.structs.replace(read_plan(tiny), seed=9).signed(), path)
    shutil.copy(answers_of(finished), answers_of(path))
    for command in ("run", "report"):
        assert "holds answers to another plan" in last_line(audit("intervene", command, path))
    assert asked == []


def test_answers_that_are_not_the_plans_are_refused(finished, tiny, asked):
    first, *rest = lines(answers_of(finished))
    for change, reason in (
        ({"model": "another"}, "holds an answer by another; the plan asks simulated-salient"),
        ({"arm": "RW"}, "holds an answer to a call that the plan does not have"),
        ({"run": 77}, "holds an answer to a call that the plan does not have"),
        ({"replicate": 99}, "holds an answer to a call that the plan does not have"),
        ({"schema": 2}, "written by a newer version (schema 2)"),
    ):
        changed = [json.dumps(each, separators=(",", ":")) + "\n" for each in [first | change, *rest]]
        answers_of(tiny).write_text("".join(changed))
        for command in ("run", "report"):
            assert reason in last_line(audit("intervene", command, tiny))
    assert asked == []


def test_an_answer_longer_than_a_line_is_cached_as_unreadable(finished, tmp_path):
    """What is written is read again, be it a byte below the bound or far above."""
    [answer, *_], _ = ANSWERS.read(answers_of(finished))
    room = LONGEST_LINE - len(msgspec.json.encode(msgspec.structs.replace(answer, completion=""))) - 1
    for number, (change, is_read, is_whole) in enumerate(
        (
            ({"completion": "x" * room}, True, True),
            ({"completion": "x" * (room + 1)}, False, False),
            ({"completion": "\x00" * room}, False, False),
            ({"thinking": "\n" * LONGEST_LINE, "prompt": "x" * LONGEST_LINE}, True, False),
        )
    ):
        with AnswerFile(tmp_path / f"{number}.jsonl", ANSWERS) as file:
            assert file.append([msgspec.structs.replace(answer, **change)]) == (1, None)
            written = list(file.answers)
        [found], problems = ANSWERS.read(file.path)
        assert (problems, [found]) == ([], written)
        assert (found.params == answer.params, found.error is None) == (is_read, is_read)
        assert all(getattr(found, name) == text for name, text in change.items()) is is_whole
        assert is_read or found.error.endswith("left out: a line holds 16 MiB]")


def test_of_two_answers_to_a_call_the_first_counts(finished, tiny):
    answers = lines(answers_of(finished))
    text = [json.dumps(each, separators=(",", ":")) + "\n" for each in [*answers, answers[0] | {"params": None}]]
    answers_of(tiny).write_text("".join(text))
    result = audit("intervene", "run", tiny, "--plan", "--format", "json")
    assert sum(row["answered"] for row in json.loads(result.stdout)) == CALLS
    assert sum(row["unreadable"] for row in json.loads(result.stdout)) == sum(e["params"] is None for e in answers)


def test_a_line_that_is_no_answer_is_reported_and_asked_again(finished, tiny, asked):
    whole = answers_of(finished).read_bytes().splitlines(keepends=True)
    answers_of(tiny).write_bytes(b"".join([*whole[:3], b'{"schema":1,"plan_sha256":"x"}\n', *whole[4:]]))
    result = run(tiny)
    assert result.exit_code == 0
    assert f"{answers_of(tiny)}:4: not an answer" in result.stderr
    assert len(asked) == 1
    good = [line for line in timeless(answers_of(tiny)) if "order" in line]
    assert sorted(good, key=lambda each: each["order"]) == timeless(answers_of(finished))


def test_another_model_than_planned_is_refused(tiny, asked):
    read = read_plan(tiny)
    for name, changes, reason in (
        ("model", {"model": "simulated-talker"}, "the model is simulated-salient, not simulated-talker"),
        ("options", {"options": {"personality": "talker"}}, "the model is set otherwise than planned"),
        ("temperature", {"given": {"temperature": 0}}, "at temperature 0 there is one answer"),
        ("backend", {"backend": "telepathy"}, "unknown backend 'telepathy'"),
        ("option", {"given": {"colour": "red"}}, "colour"),
    ):
        path = tiny.with_name(f"{name}.json")
        write_plan(msgspec.structs.replace(read, **changes).signed(), path)
        result = run(path)
        assert reason in last_line(result, result.exit_code)
        assert result.exit_code in {1, 2}
    assert asked == []


@pytest.fixture(scope="module")
def beside(records, tmp_path_factory):
    """A plan in one folder with a copy of its data."""
    folder = tmp_path_factory.mktemp("beside")
    plan(shutil.copytree(records, folder / "data"), folder / "plan.json", *TINY)
    return folder


@pytest.mark.parametrize("change", ["gone", "params", "prompt", "another run"])
def test_records_that_changed_since_are_refused(beside, tmp_path, asked, change):
    path = shutil.copytree(beside, tmp_path / "copy") / "plan.json"
    data, unit = path.parent / "data", read_plan(path).units[0]
    [run_json] = [each for each in data.rglob("run.json") if json.loads(each.read_text())["run"] == unit.run]
    folder = run_json.parent
    if change == "gone":
        shutil.rmtree(data)
    elif change == "another run":
        shutil.rmtree(folder)
    else:
        file = folder / ("calls.jsonl" if change == "prompt" else "episodes.jsonl")
        rows = lines(file)
        for row in rows:
            if change == "prompt":
                row["prompt"] = row["prompt"].replace("Evidence", "Proof")
            else:
                row["initial"]["params"][0] += 0.25
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = last_line(audit("intervene", "run", path))
    assert "make a new plan" in line or "no such folder" in line
    assert asked == []
    assert not answers_of(path).exists()


def test_prompts_are_kept_where_that_is_wanted(finished, tiny):
    assert run(tiny, "--keep-prompts").exit_code == 0
    kept = lines(answers_of(tiny))
    assert [{key: value for key, value in each.items() if key != "prompt"} for each in timeless(answers_of(tiny))] == (
        timeless(answers_of(finished))
    )
    for each in kept:
        assert len(each["prompt"]) == each["prompt_characters"]
        for one in each["shown"]:
            assert f"{one['name']} (rollout {one['rollout']}" in each["prompt"]


def test_what_is_left_is_printed_and_nothing_asked(tiny, asked):
    result = audit("intervene", "run", tiny, "--plan", "--format", "csv")
    rows = [f"{arm},{planned},0,0" for arm, planned in (("A0", 4), ("N0", 4), ("C", 2), ("XP", 4))]
    assert result.stdout.splitlines() == ["arm,planned,answered,unreadable", *rows]
    assert f"{CALLS} of {CALLS} calls are missing" in result.stderr
    assert asked == []
    assert not answers_of(tiny).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is writable for root")
def test_a_read_only_folder_is_last_line(tiny):
    tiny.parent.chmod(0o500)
    try:
        assert "cannot write" in last_line(run(tiny))
    finally:
        tiny.parent.chmod(0o700)
