"""Signals to stop: one line, exit status 130, and no temporary folders, in every program and at every moment."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import typer

from audit.commands.options import ending, reported_errors
from audit.output.errors import AuditError
from collector.system import stopping
from collector.system.stopping import answering, is_stopped, left_to_parent, temporary_folder
from tests.audit.samples import revision, write_run

KINDS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def lasting():
    """Wait for a signal."""
    for _ in range(1000):
        time.sleep(0.01)
    raise AssertionError


def test_each_signal_is_ctrl_c_while_a_command_runs():
    before = [signal.getsignal(kind) for kind in KINDS]
    for kind in KINDS:
        made = []
        with pytest.raises(KeyboardInterrupt), answering("stopped"), temporary_folder() as folder:  # noqa: PT012
            made.append(folder)
            assert folder.is_dir()
            os.kill(os.getpid(), kind)
            lasting()
        assert not is_stopped()
        assert not made[0].exists()
        assert [signal.getsignal(kind) for kind in KINDS] == before


def test_a_signal_that_is_to_be_ignored_is_ignored():
    """As `nohup` has it."""
    kept = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with answering("stopped"):
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.05)
            assert not is_stopped()
    finally:
        signal.signal(signal.SIGHUP, kept)


LOST = """
from collector.system.stopping import run_program, temporary_folder
import os, signal

def run():
    global folder
    folder = temporary_folder()
    print(folder.__enter__(), flush=True)
    ENDING

run_program("stopped", lambda: run)
"""


def test_folders_are_removed_wherever_a_signal_comes():
    """Such as before the block that would remove one has begun, or where nothing else of the program learns of it."""
    for last, status in {"os.kill(os.getpid(), signal.SIGTERM); input()": 130, "raise SystemExit(3)": 3}.items():
        ended = subprocess.run([sys.executable, "-c", LOST.replace("ENDING", last)], stdout=-1, text=True, check=False)
        assert (ended.returncode, Path(ended.stdout.strip()).exists()) == (status, False)


def test_whatever_fails_after_a_signal_is_its_doing(capsys):
    """A worker that received the signal as well has not run out of memory."""
    killed = AuditError("a process that reads answers was killed, for want of memory perhaps")
    with answering("stopped"):
        assert ending(killed) == (str(killed), 1)
        stopping._stopped.set()
        for error in (killed, ImportError("half of a module"), RuntimeError("x")):
            assert ending(error) == ("interrupted", 130)
            with pytest.raises(typer.Exit) as ended, reported_errors():
                raise error
            assert ended.value.exit_code == 130
            assert capsys.readouterr().err == "audit: interrupted\n"


def test_processes_leave_signals_to_their_parent():
    with left_to_parent():
        process = subprocess.Popen([sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1, stdout=-1)
    assert process.stdout.read(1) == b"1"
    for kind in KINDS:
        process.send_signal(kind)
    process.communicate(b"\n")
    assert process.returncode == 0


def test_nothing_happens_in_another_thread():
    found = []

    def run():
        with answering("stopped"):
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals")
    for run in range(1, 41):
        rows = [
            revision([1, 5, 9], [2, 2, 2 + each], answer="The worst fell.", iteration=each, run=run)
            for each in range(50)
        ]
        write_run(folder / "data" / f"run-{run}", rows)
    return folder / "data"


LASTING = {
    "summary": ["audit", "summary", "DATA", "--no-cache"],
    "salience": ["audit", "salience", "DATA", "--no-cache", "--detector", "phrase"],
    "view": ["audit", "view", "DATA", "--no-browser"],
    "export": ["audit", "view", "DATA", "--export", "OUT"],
    "pack": ["audit", "pack", "DATA", "--out", "OUT.pack.parquet"],
    "sql": ["audit", "sql", "DATA", "select count(*) from range(100000000000) a, episodes"],
    "check": ["audit", "check", "DATA"],
    "metrics": ["stats", "metrics", "DATA"],
    "figures": ["figures", "DATA", "--out", "OUT"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", LASTING)
def test_no_command_leaves_temporary_folders(name, kind, records, tmp_path):
    package, *arguments = [
        each.replace("DATA", str(records)).replace("OUT", str(tmp_path / "out")) for each in LASTING[name]
    ]
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = os.environ | {"TMPDIR": str(folder), "SALIENCE_AUDIT_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-m", package, *arguments],
        stdout=-1,
        stderr=-1,
        text=True,
        env=environment,
        start_new_session=True,
    )
    while process.poll() is None and not list(folder.glob("audit-*")):
        time.sleep(0.005)
    time.sleep(0.1)
    with contextlib.suppress(ProcessLookupError):  # it has ended
        os.killpg(process.pid, kind)
    _, errors = process.communicate(timeout=60)
    assert [path for path in folder.iterdir() if path.name.startswith("audit-")] == []
    assert "Traceback" not in errors
    if process.returncode:  # it may have been done
        assert (process.returncode, len(errors.splitlines())) == (130, 1), errors
