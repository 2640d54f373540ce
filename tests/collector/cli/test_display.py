"""What people see of a run: bars, plain lines, and the summary of a session with a real model."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from collector.cli import display, main
from collector.cli.display import Plain, Terminal, choose_display
from collector.cli.summary import Tally
from collector.errors import CollectorError
from collector.llm.protocol import Completion
from collector.records import Call
from collector.search import Progress
from collector.sweep import State
from tests.collector.helpers import GOOD, answer, in_process, lines, spec


def call(seconds=2.0, tokens=(100, 20), error=None):
    return Call(
        **spec().identity, iteration=0, role="search", attempt=1, prompt="", completion="", thinking=None, model="m",
        prompt_tokens=tokens[0], completion_tokens=tokens[1], seconds=seconds, error=error,
    )  # fmt: skip


def progress(asked, finished, made=None, *, best=None, skipped=0):
    return Progress(asked, finished, skipped, best, best, 7, made)


class Clock:
    """A clock that a test sets."""

    now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(display, "time", clock)
    return clock


def shown(*asked, terminal=False, finished=0, width=150):
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=width, height=20, color_system=None)
    return choose_display(console, [State(each, finished > 0, finished) for each in asked], quiet=False), text


def test_calls_that_overlap_count_their_time_once():
    tally = Tally()
    assert tally.rate is None
    for now, made in [(10.0, call(4.0)), (11.0, call(3.0)), (20.0, call(5.0)), (21.0, call(12.0, error="none"))]:
        tally.add(made, now)
    # 6 to 11 and 9 to 21: fifteen seconds in which some call was in flight.
    assert tally.rate == pytest.approx(80 / 15)
    assert (tally.calls, tally.unreadable, tally.prompt_tokens, tally.answer_tokens) == (4, 1, 400, 80)
    silent = Tally()
    silent.add(call(tokens=(None, None)), 5.0)
    assert (silent.rate, silent.prompt_tokens) == (None, None)


def test_a_terminal_shows_a_bar_for_each_run_in_flight_and_one_for_all(clock):
    one, other = spec(iterations=4), spec(iterations=4, variant="r2po")
    seen, text = shown(one, other, terminal=True, finished=1)
    assert isinstance(seen, Terminal)
    with seen:
        seen.progress(progress(one, 1))
        seen.progress(progress(one, 2, best=0.5))
        seen.progress(progress(other, 1))
        seen.failed(other, CollectorError("the disk is full"))
    assert f"stopped: {other.folder.as_posix()}: the disk is full" in text.getvalue()
    bars = [(task.description, task.completed, task.total, task.fields["best"]) for task in seen._bars.tasks]
    assert bars == [("all runs", 3, 8, ""), (one.folder.as_posix(), 2, 4, "best 0.50")]
    seen.finished(one)
    assert [task.description for task in seen._bars.tasks] == ["all runs"]


def test_plain_lines_come_after_so_many_iterations_or_seconds(clock):
    asked = spec(iterations=20)
    seen, text = shown(asked)
    assert isinstance(seen, Plain)
    name = asked.folder.as_posix()
    for finished, made in [(0, None), (0, call(29.0)), (1, None)]:
        seen.progress(progress(asked, finished, made))
        clock.now += 29
    lines = [f"{name}: iteration 1/20, return –, best –, calls 7"]
    assert text.getvalue().splitlines() == lines
    for finished in range(2, 11):
        seen.progress(progress(asked, finished, best=0.25))
    seen.finished(asked)
    lines += [f"{name}: iteration 10/20, return 0.25, best 0.25, calls 7", f"complete: {name}, best return 0.25 [1/1]"]
    assert text.getvalue().splitlines() == lines


class Local:
    """Answers for the local backend: every third answer cannot be read, or none can."""

    backend, name = "local", "smollm2"

    def __init__(self, *, readable=True):
        self.options = {}
        self.made, self.readable = 0, readable

    async def complete(self, prompt, *, seed, form=None):
        self.made += 1
        text = answer(GOOD) if self.readable and self.made % 3 else "no idea"
        return Completion(text, prompt_tokens=100, completion_tokens=10)

    async def check(self):
        pass

    async def aclose(self):
        pass


@pytest.fixture
def local(monkeypatch):
    """Makes `--backend local` answer by a given model; returns what the model was made with."""
    asked = {}

    def answer_by(model):
        def make(backend, **given):
            asked.update(given)
            return model

        monkeypatch.setattr("collector.llm.backends.make_model", make)
        return asked

    return answer_by


SMALL = ["--env", "frozenlake", "--variant", "threetraj", "--rollouts", "4", "--backend", "local"]


def test_a_session_with_a_real_model_ends_in_a_summary(local, tmp_path):
    asked = local(Local())
    out = tmp_path / "my runs"
    done = in_process(main, *SMALL, "--out", out)
    assert done.returncode == 0, done.stderr
    assert asked["in_flight"] == 1
    (folder,) = out.rglob("run-*")
    episodes = lines(folder / "episodes.jsonl")
    assert len(episodes) == 5, "one run of five iterations, unless asked for otherwise"
    best = max(episode[episode["selected"]]["mean_return"] for episode in episodes)
    summary = done.stderr.splitlines()[-8:]
    assert summary[0].startswith("runs         1 of 1 complete, 5 iterations in 0:")
    assert summary[1] == f"best return  frozenlake: threetraj {best:.4g} (run 1)"
    last = "16 of 16 parameters missing, the first is params[0]"
    assert summary[2] == f"calls        14, of which 4 unreadable (28.6%); the last: {last}"
    assert summary[3].startswith("tokens       1,400 of prompts, 140 of answers, ")
    assert summary[3].endswith(" a second")
    assert summary[4] == f"records      {out}"
    following = [line[13:] for line in summary[5:]]
    assert following == [f"audit check '{out}'", f"audit salience '{out}'", f"audit view '{out}'"]


def test_options_win_over_the_defaults_of_the_local_model_and_quiet_over_the_summary(local, tmp_path):
    asked = local(Local())
    more = ["--runs", "2", "--iterations", "3", "--concurrency", "2", "--quiet"]
    done = in_process(main, *SMALL, *more, "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert asked["in_flight"] == 2
    assert [len(lines(path)) for path in sorted(tmp_path.rglob("episodes.jsonl"))] == [3, 3]


def test_a_session_that_goes_on_says_that_its_numbers_are_its_own(local, tmp_path):
    local(Local(readable=False))
    assert in_process(main, *SMALL, "--out", tmp_path).returncode == 1
    local(Local())
    done = in_process(main, *SMALL, "--out", tmp_path)
    (calls,) = tmp_path.rglob("calls.jsonl")
    assert len(lines(calls)) == 5 + 14
    assert "calls        14, of which 4 unreadable (28.6%); the last: " in done.stderr
    assert "runs         1 of 1 complete, 5 iterations in 0:" in done.stderr
    assert "; 1 had been begun earlier\n" in done.stderr


def test_a_model_that_proposes_nothing_is_a_result(local, tmp_path):
    local(Local(readable=False))
    done = in_process(main, *SMALL, "--on-unreadable", "skip", "--out", tmp_path)
    assert done.returncode == 0
    assert "best return  none, since no answer could be read" in done.stderr
    assert "skipped      5 iterations" in done.stderr
    assert "--structured" in done.stderr
    assert "audit salience" not in done.stderr
    again = in_process(main, *SMALL, "--on-unreadable", "skip", "--out", tmp_path)
    assert again.stderr == "1 of 1 runs are complete already\n"


def test_a_summary_fits_the_terminal_and_names_every_task_and_method(clock, tmp_path):
    asked = [spec(task, method) for task in ("cartpole", "pong") for method in ("threetraj", "puresearch")]
    of_cartpole, of_pong = "puresearch 2 (run 1), threetraj 1 (run 1)", "puresearch 4 (run 1), threetraj 3 (run 1)"
    for width in (60, 80, 140):
        seen, text = shown(*asked, terminal=True, width=width)
        for place, each in enumerate(asked):
            seen.progress(progress(each, 0))
            seen.progress(progress(each, 3, call(tokens=(None, None)), best=1.0 + place))
            seen.finished(each)
        clock.now += 61
        seen.summarize(tmp_path / "out")
        assert max(map(len, text.getvalue().splitlines())) <= width
        words = " ".join(text.getvalue().split())
        assert words.startswith("runs 4 of 4 complete, 12 iterations in 0:01:01 best return cartpole: ")
        assert f"cartpole: {of_cartpole} pong: {of_pong}" in words
        assert "tokens" not in words
        assert "audit view" in words


def test_a_session_that_is_stopped_leaves_a_summary_and_how_to_go_on(local, tmp_path):
    class Stopped(Local):
        async def complete(self, prompt, *, seed, form=None):
            if self.made == 5:
                raise KeyboardInterrupt
            return await super().complete(prompt, seed=seed, form=form)

    local(Stopped())
    done = in_process(main, *SMALL, "--out", tmp_path)
    assert done.returncode == 130
    assert "runs         0 of 1 complete, " in done.stderr
    assert "best return  frozenlake: threetraj " in done.stderr
    assert done.stderr.splitlines()[-2:] == [
        "next         the same command goes on from here",
        "collect: stopped; nothing is lost, the same command goes on from here",
    ]
    local(Local())
    assert in_process(main, *SMALL, "--out", tmp_path).returncode == 0
