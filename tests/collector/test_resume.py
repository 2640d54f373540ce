"""A run that is cut short, anywhere, goes on to the same records as one that never was."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from collector import run_folder
from collector.cli import main
from collector.errors import CollectorError, ModelError
from collector.llm.protocol import Completion
from collector.llm.simulated import SimulatedModel
from collector.records import decode_run
from collector.remedies import remedies_of
from collector.run_folder import RunFolder
from collector.switches import Switches
from tests.collector.cutting import Disk
from tests.collector.helpers import collect, in_process, lines, spec, timeless


class Interrupted(SimulatedModel):
    """Fails at its nth call; counts the calls that it answered. Never answers some prompts so that it can be read."""

    def __init__(self, fails_at=-1, *, mumbles=False):
        super().__init__()
        self.left, self.answered, self.mumbles = fails_at, 0, mumbles

    async def complete(self, prompt, *, seed, form=None):
        if self.left == 0:
            raise ModelError("cut off")
        self.left -= 1
        self.answered += 1
        if self.mumbles and zlib.crc32(prompt.encode()) % 3 == 0:
            return Completion("no idea")
        return await super().complete(prompt, seed=seed)


SKIP = Switches(on_unreadable="skip")
REMEDIES = Switches(remedies=remedies_of(["letters", "best-of-three", "gate-sequential"]))
CUT = [
    ("threetraj", Switches(), 4),
    ("alwayscritic", Switches(), 4),
    ("threetraj", SKIP, 5),
    ("actorsecondpass", SKIP, 5),
]


@pytest.mark.parametrize(("variant", "switches", "iterations"), CUT)
def test_cut_off_before_any_call(variant, switches, iterations, tmp_path):
    asked, mumbles = spec(variant=variant, iterations=iterations, switches=switches), switches == SKIP
    whole = timeless(collect(asked, tmp_path / "whole", Interrupted(mumbles=mumbles)))
    assert ("skipped.jsonl" in whole, "episodes.jsonl" in whole) == (mumbles, True)
    calls = len(whole["calls.jsonl"])
    for cut in range(calls):
        out, first, second = tmp_path / f"cut-{cut}", Interrupted(cut, mumbles=mumbles), Interrupted(mumbles=mumbles)
        with pytest.raises(ModelError):
            collect(asked, out, first)
        assert timeless(collect(asked, out, second)) == whole
        assert first.answered + second.answered == calls, "a finished call was paid for twice"


@pytest.mark.parametrize(
    "switches",
    [Switches(), pytest.param(SKIP, marks=pytest.mark.slow), pytest.param(REMEDIES, marks=pytest.mark.slow)],
    ids=["stops", "skips", "several answers"],
)
def test_cut_off_within_any_write(switches, tmp_path, monkeypatch):
    """Every file state that a crash can leave: after each line, and in the middle of each."""
    asked, mumbles = spec(iterations=3, switches=switches), switches == SKIP
    writes = []
    append = run_folder.append_line
    monkeypatch.setattr(
        run_folder, "append_line", lambda file, line: (writes.append((file.name, line)), append(file, line))
    )
    folder = collect(asked, tmp_path / "whole", Interrupted(mumbles=mumbles))
    monkeypatch.undo()
    whole = timeless(folder)
    assert ("skipped.jsonl" in whole) == mumbles
    for number, (_, line) in enumerate(writes):
        for kept in (0, 1, len(line) // 2, len(line) - 1):
            crashed = tmp_path / "crashed" / asked.folder
            shutil.rmtree(tmp_path / "crashed", ignore_errors=True)
            crashed.mkdir(parents=True)
            shutil.copy(folder / "run.json", crashed)
            for name, data in [*writes[:number], (writes[number][0], line[:kept])]:
                with (crashed / str(name).rsplit("/", 1)[-1]).open("ab") as file:
                    file.write(data)
            collect(asked, tmp_path / "crashed", Interrupted(mumbles=mumbles))
            assert timeless(crashed) == whole, (number, kept)


def test_a_torn_line_is_reported(tmp_path):
    asked = spec(iterations=2)
    folder = collect(asked, tmp_path)
    episodes = folder / "episodes.jsonl"
    episodes.write_bytes(episodes.read_bytes()[:-20])
    with RunFolder(folder) as opened:
        assert opened.notes == [f"{episodes}:2: dropped an unfinished last line"]


def test_zeros_of_a_power_cut_are_dropped(tmp_path):
    asked = spec(iterations=2)
    whole = timeless(collect(asked, tmp_path / "whole"))
    for name in ("episodes.jsonl", "calls.jsonl", "truth.jsonl"):
        with pytest.raises(ModelError):
            collect(asked, tmp_path / name, Interrupted(2))
        with (tmp_path / name / asked.folder / name).open("ab") as file:
            file.write(b"\0" * 50)
        assert timeless(collect(asked, tmp_path / name)) == whole, name


class PowerCutError(Exception):
    """The process ends here."""


def cut_off(asked, out: Path, event: int, seed: int) -> None:
    """Collect until the power is cut before the given sync, of which the records may be whole before."""
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(PowerCutError):
        out.mkdir(exist_ok=True)
        patch.chdir(out)
        disk = Disk(event, random.Random(seed))
        sync, truncate = os.fsync, os.ftruncate

        def fsync(descriptor):
            disk.event()
            sync(descriptor)
            disk.synced(descriptor)

        def power_cut(status):
            raise PowerCutError

        patch.setattr(os, "_exit", power_cut)
        patch.setattr(os, "fsync", fsync)
        patch.setattr(os, "ftruncate", lambda *given: (disk.event(), truncate(*given)))
        collect(asked, out)


def test_power_cuts_at_every_moment_of_two_runs(tmp_path):
    """Of what was not synced nothing, a part, or zeros are left."""
    asked = spec("maze", iterations=2, rollouts=2)
    whole = timeless(collect(asked, tmp_path / "whole").parent)
    syncs = 2 + 2 * (2 + 1 + 1)
    for first, second in itertools.product(range(3, syncs + 1), range(1, 9)):
        out = tmp_path / f"{first}-{second}"
        cut_off(asked, out, first, first)
        cut_off(asked, out, second, second)
        assert timeless(collect(asked, out).parent) == whole, (first, second)


def test_truths_of_lost_calls_are_given_again(tmp_path):
    asked = spec(iterations=3)
    folder = collect(asked, tmp_path)
    whole = timeless(tmp_path)
    for name, count in (("episodes.jsonl", 1), ("calls.jsonl", 2)):
        path = folder / name
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:count]))
    with (folder / "truth.jsonl").open("ab") as file:
        file.write(b'{"torn')
    with RunFolder(folder) as opened:
        assert opened.notes == [f"{folder / 'truth.jsonl'}:2: dropped an unfinished last line"]
    assert len(lines(folder / "truth.jsonl")) == 1
    assert timeless(collect(asked, tmp_path).parents[3]) == whole
    path = folder / "calls.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[2:]))
    with pytest.raises(CollectorError, match=r"truth.jsonl:1: it belongs to no call"):
        collect(asked, tmp_path)


def test_killed_before_the_first_record(tmp_path):
    asked = spec(iterations=1)
    folder = tmp_path / asked.folder
    folder.mkdir(parents=True)
    (folder / "run.json.part").write_text('{"half": ')
    assert len(lines(collect(asked, tmp_path) / "episodes.jsonl")) == 1


REFUSED = {
    "a corrupt line that is not the last": ("episodes.jsonl", lambda text: "{oops\n" + text, ":1: "),
    "an iteration missing": ("episodes.jsonl", lambda text: text.split("\n", 1)[1], "iteration 1 where 0 belongs"),
    "a newer schema": ("run.json", lambda text: text.replace('"schema": 1', '"schema": 3'), "schema 3 is newer"),
    "texts": ("run.json", lambda text: text.replace('"schema": 1', '"candidates": "text", "schema": 2'), "are texts"),
    "no JSON at all": ("run.json", lambda text: "hello", "run.json: "),
    "a run.json without a field": ("run.json", lambda text: text.replace('"seed"', '"sed"'), "seed is missing"),
}


def test_records_that_cannot_be_continued_are_refused_and_left_alone(tmp_path):
    asked = spec(iterations=3)
    folder = collect(asked, tmp_path)
    for name, damage, message in REFUSED.values():
        path = folder / name
        whole = path.read_text()
        path.write_text(damage(whole))
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        with pytest.raises(CollectorError) as error:
            collect(asked, tmp_path)
        assert message in str(error.value)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
        path.write_text(whole)
    (folder / "run.json").unlink()
    with pytest.raises(CollectorError, match=r"holds records but no run\.json"):
        collect(asked, tmp_path)


def test_a_second_writer_is_refused(tmp_path):
    with RunFolder(tmp_path / "run-01"), pytest.raises(CollectorError, match="being written by another process"):
        RunFolder(tmp_path / "run-01").__enter__()
    with RunFolder(tmp_path / "run-01"):
        pass  # free again


OTHERS = {"seed": (1, 0), "rollouts": (5, 4), "warmup": (2, 3), "iterations": (9, 2)}


def test_other_settings_under_the_same_label_are_refused(tmp_path):
    mine = {"iterations": 2, "condition": "mine"}
    collect(spec(**mine), tmp_path)
    for name, (asked, found) in OTHERS.items():
        with pytest.raises(CollectorError, match=f"{name} is {found}, not {asked}"):
            collect(spec(**(mine | {name: asked})), tmp_path)


def test_of_settings_with_parts_those_that_differ_are_named(tmp_path):
    asked = spec(iterations=2)
    found = decode_run((collect(asked, tmp_path) / "run.json").read_bytes())
    changed = replace(
        asked,
        options=asked.options | {"temperature": 0.5},
        switches={"step_cap": 20},
        method=msgspec.structs.replace(asked.method, commits="first"),
    )
    assert changed.differences(found) == [
        "options.temperature is None, not 0.5",
        "switches.step_cap is None, not 20",
        "method.commits is better, not first",
    ]
    assert asked.differences(found) == []
    nested = msgspec.structs.replace(found, options=asked.options | {"file": {"name": "a", "size": 1}})
    assert replace(asked, options=asked.options | {"file": {"name": "b", "size": 1}}).differences(nested) == [
        "options.file.name is a, not b"
    ]
    assert asked.differences(nested) == ["options.file is {'name': 'a', 'size': 1}, not None"]


def test_a_changed_prompt_is_not_answered_with_a_stored_call(tmp_path):
    asked = spec(iterations=2)
    with pytest.raises(ModelError):
        collect(asked, tmp_path, Interrupted(1))
    path = tmp_path / asked.folder / "calls.jsonl"
    (call,) = lines(path)
    path.write_text(json.dumps(call | {"prompt": "another"}) + "\n")
    with pytest.raises(CollectorError, match="the prompt of iteration 0 is not the one"):
        collect(asked, tmp_path)


def test_cancelling_releases_the_folder(tmp_path):
    asked = spec(iterations=50)

    class Endless(SimulatedModel):
        async def complete(self, prompt, *, seed, form=None):
            await asyncio.sleep(3600)

    async def cancelled():
        task = asyncio.create_task(asyncio.to_thread(lambda: None))
        await task
        running = asyncio.create_task(_search(asked, tmp_path, Endless()))
        await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancelled())
    with RunFolder(tmp_path / asked.folder) as folder:
        assert folder.episodes == []


async def _search(asked, out, model):
    from collector.search import search
    from tests.collector.helpers import inline

    with RunFolder(out / asked.folder) as folder:
        await search(asked, folder, model, inline, lambda progress: None)


COMMAND = [
    sys.executable, "-m", "collector.cli", "--env", "cartpole", "--env", "frozenlake", "--variant", "threetraj",
    "--variant", "reptraj", "--runs", "1", "--iterations", "12", "--rollouts", "8",
]  # fmt: skip


@pytest.mark.slow
def test_killed_at_random_points_and_resumed(tmp_path):
    """SIGKILL, again and again, until the command gets through; whatever the moments were, the records are the same."""
    subprocess.run([*COMMAND, "--quiet", "--out", tmp_path / "whole"], check=True, timeout=300)
    out, moments, kills = tmp_path / "killed", random.Random(7), 0
    for _ in range(12):
        with subprocess.Popen([*COMMAND, "--quiet", "--out", out]) as process:
            try:
                assert process.wait(timeout=moments.uniform(0.4, 1.6)) == 0
                break
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
    subprocess.run([*COMMAND, "--quiet", "--out", out], check=True, timeout=300)
    assert kills > 0
    assert timeless(out) == timeless(tmp_path / "whole")


@pytest.mark.slow
def test_ctrl_c_ends_tidily_and_says_how_to_go_on(tmp_path):
    # So many that the run cannot end before the signal comes.
    command = [*COMMAND, "--iterations", "1000000", "--out", tmp_path]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "iteration 10/" in line:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
    assert process.returncode == 130
    assert rest.splitlines()[-1] == "collect: stopped; nothing is lost, the same command goes on from here"
    assert "Traceback" not in rest


def test_a_complete_run_with_an_unreadable_line_is_not_complete(tmp_path):
    kept = collect(spec(), tmp_path / "kept")
    garbages = {"episodes.jsonl": b"garbage\n", "calls.jsonl": b"[" * 5000 + b"\n", "truth.jsonl": b"\xff\n"}
    for name, garbage in garbages.items():
        out = tmp_path / name
        folders = [out / spec(runs=run).folder for run in (1, 2)]
        shutil.copytree(kept, folders[0])
        damaged = folders[0] / name
        first, second, _, *rest = damaged.read_bytes().splitlines(keepends=True)
        damaged.write_bytes(b"".join([first, second, garbage, *rest, b"{}\n"]) + b'{"torn')
        before = {path.name: path.read_bytes() for path in folders[0].iterdir()}
        settings = ["--runs", "2", "--iterations", "3", "--rollouts", "4", "--warmup", "3", "--out", str(out)]
        done = in_process(main, "--env", "frozenlake", "--variant", "threetraj", *settings)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith(f"collect: 1 of 2 runs stopped; the first: {damaged}:3: ")
        assert "complete already" not in done.stderr
        assert {path.name: path.read_bytes() for path in folders[0].iterdir()} == before
        assert len(lines(folders[1] / "episodes.jsonl")) == 3


def test_a_run_begun_before_records_said_what_its_method_does_goes_on(tmp_path):
    asked = spec(iterations=3)
    with pytest.raises(ModelError):
        collect(asked, tmp_path, Interrupted(2))
    path = tmp_path / asked.folder / "run.json"
    begun = json.loads(path.read_bytes())
    assert begun.pop("method")["evidence"] == "three"
    path.write_text(json.dumps(begun))
    collect(asked, tmp_path)
    assert json.loads(path.read_bytes()) == begun
    assert len(lines(path.with_name("episodes.jsonl"))) == 3
    path.write_text(json.dumps({**begun, "method": {"commits": "revised"}}))
    with pytest.raises(CollectorError, match="method"):
        collect(asked, tmp_path)
