"""A bar on a terminal, lines elsewhere, and nothing for work that is soon done."""

from __future__ import annotations

import io
import sys
import threading
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest

from collector.system import progress
from collector.system.progress import PrintedProgress, tracked


class Stream(io.StringIO):
    """Standard error that is a terminal or not, and can be waited for."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal
        self.awaited, self.written = "", threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        length = super().write(text)
        if self.awaited and self.awaited in self.getvalue():
            self.written.set()
        return length

    def wait_for(self, text: str) -> None:
        """Wait until some text is written; without it the test fails."""
        self.written.clear()
        self.awaited = text
        self.write("")
        assert self.written.wait(20), f"{text!r} is not in {self.getvalue()!r}"


@pytest.fixture
def error(monkeypatch, request):
    stream = Stream(terminal=getattr(request, "param", False))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    for name, seconds in (("DELAY", 0.0), ("PAUSE", 0.001), ("PATIENCE", 0.001)):
        monkeypatch.setattr(progress, name, seconds)
    return stream


@pytest.mark.parametrize("error", [True, False], indirect=True)
def test_nothing_moves_for_work_that_is_soon_done(error, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 600.0)
    with redirect_stderr(error), PrintedProgress() as shown:
        shown.begin(0, "reading records", counted=False)
        shown.end()
        assert list(tracked([1, 2, 3], "reading runs")) == [1, 2, 3]
    assert error.getvalue() == ""


def test_where_there_is_no_terminal_a_line_is_written_now_and_then(error):
    with redirect_stderr(error), PrintedProgress() as shown:
        shown.begin(4, "policies, 20 rollouts each")
        error.wait_for("policies, 20 rollouts each, 0:00:00 so far\n")
        shown.advance()
        error.wait_for("audit: 1 of 4 policies, 20 rollouts each, ")
    assert error.getvalue().startswith("audit: 4 policies, 20 rollouts each\n")
    assert "\x1b" not in error.getvalue()


@pytest.mark.parametrize("error", [True], indirect=True)
def test_a_terminal_gets_a_bar_that_notes_do_not_break_and_that_goes_when_it_is_done(error, capsys):
    with redirect_stderr(error), PrintedProgress() as shown:
        shown.begin(200, "reading records", counted=False)
        shown.advance(50)
        error.wait_for(" 25%")
        print("audit: a note", file=sys.stderr)
    lines = error.getvalue().replace("\r", "\n").splitlines()
    assert any(line.endswith("audit: a note") for line in lines)
    assert max(len(line.split("\x1b[2K")[-1]) for line in lines if "\x1b[3" not in line) <= 60
    assert error.getvalue().rindex("\x1b[?25h") > error.getvalue().rindex("\x1b[?25l"), "the cursor is back"
    assert "%" not in error.getvalue()[error.getvalue().rindex("\x1b[?25h") :]
    assert capsys.readouterr().out == ""


def test_work_within_other_work_reports_nothing_of_its_own(error):
    with redirect_stderr(error), PrintedProgress() as outer:
        outer.begin(0, "reading records", counted=False)
        assert list(tracked([1, 2], "analysing")) == [1, 2]
        error.wait_for("reading records")
    with redirect_stderr(error), PrintedProgress() as after:
        after.begin(0, "writing", counted=False)
        error.wait_for("writing")
    assert "analysing" not in error.getvalue()


LINES = [
    (40, True, 0, "calls, 0:01:00 so far"),
    (40, True, 10, "10 of 40 calls, 0:03:00 left"),
    (40, False, 10, "calls: 25%, 0:03:00 left"),
    (40, False, 50, "calls: 100%, 0:00:00 left"),
    (0, False, 10, "calls, 0:01:00 so far"),
]


def test_a_line_states_what_is_done_and_what_is_left(error, monkeypatch):
    # Its own clock: the process's, set back, would stop the event loops of other threads for good.
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    monkeypatch.setattr(progress, "DELAY", 600.0)
    for total, counted, done, line in LINES:
        with redirect_stderr(error), PrintedProgress() as shown:
            shown.begin(total, "calls", counted=counted)
            shown.advance(done)
            assert shown.line(1060.0) == line
