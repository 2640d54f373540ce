"""Ctrl-C, SIGTERM and SIGHUP end a command in one line, whatever it does, and leave no temporary folders."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final

PATIENCE: Final = 1.5
"""Seconds that a command has, once it was stopped, to end by itself."""
INTERRUPTED: Final = 130
"""The exit status of a command that was stopped."""

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_stopped: Final = threading.Event()
_was_stopped: Final = threading.Event()
_ended: Final = threading.Event()
_reported: Final = threading.Event()
_folders: Final[dict[Path, int]] = {}
"""Temporary folders, and the processes that have made them."""


def is_stopped() -> bool:
    """Whether the running command has received a signal to stop; errors after that are its consequences."""
    return _stopped.is_set()


def is_reported() -> bool:
    """Whether the command has reported that it was stopped."""
    return _reported.is_set()


def stop_is_reported() -> None:
    """Say that the command itself reports that it was stopped."""
    _reported.set()
    _ended.set()


def run_program(message: str, load: Callable[[], Callable[[], object]]) -> None:
    """Run a program in a process of its own, which a signal ends at once while it has nothing to lose.

    Args:
        message: printed on standard error.
        load: imports the program, and returns what runs it, within `answering`.
    """
    for number in _answered():
        signal.signal(number, lambda *_: _exit(message))
    try:
        load()()
    except KeyboardInterrupt:
        _was_stopped.set()
    finally:
        if _was_stopped.is_set():
            # The interpreter would wait for threads, and end by SIGINT where a library has seen a KeyboardInterrupt.
            _exit("" if _reported.is_set() else message)


@contextlib.contextmanager
def answering(message: str) -> Iterator[None]:
    """Within the block SIGTERM and SIGHUP are KeyboardInterrupt as Ctrl-C is, and the command ends in time after it.

    Python's handlers wait for the main thread, which may be in compiled code, and that of asyncio waits for the event
    loop: so a thread ends the process if it has not ended by itself. Outside the main thread nothing happens.

    Args:
        message: printed on standard error, where it is the thread that ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    import socket

    for event in (_was_stopped, _ended, _reported):
        event.clear()
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def watch() -> None:
        while received := receiver.recv(1):
            if received[0] in numbers:
                _stopped.set()
                if not _ended.wait(PATIENCE):
                    _exit(message)

    def stop(*_: object) -> None:
        if not stopping.is_set():
            stopping.set()
            signal.raise_signal(signal.SIGINT)

    stopping = threading.Event()
    numbers = _answered()
    before = {number: signal.getsignal(number) for number in numbers}
    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    descriptor = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    hooks = sys.unraisablehook, threading.excepthook
    sys.unraisablehook, threading.excepthook = (_unless_stopped(hook) for hook in hooks)
    sys.meta_path.insert(0, _Uninterrupted)
    try:
        for number in reversed(numbers):
            # Python's own for Ctrl-C: asyncio replaces no other by one that cancels tasks.
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else stop)
        yield
    finally:
        _ended.set()
        sys.meta_path.remove(_Uninterrupted)
        sys.unraisablehook, threading.excepthook = hooks
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor)
        sender.close()
        watching.join(PATIENCE)
        receiver.close()
        if _stopped.is_set():
            _stopped.clear()
            _was_stopped.set()


class _Uninterrupted:
    """Has Ctrl-C wait for the import of DuckDB: its compiled module aborts the process where that is interrupted."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """As a finder of `sys.meta_path`."""
        if name != "duckdb" or threading.current_thread() is not threading.main_thread():
            return None
        spec: Any = PathFinder.find_spec(name, path, target)
        if spec is not None:
            spec.loader.exec_module = _uninterrupted(spec.loader.exec_module)
        return spec


def _uninterrupted(execute: Callable[[Any], None]) -> Callable[[Any], None]:
    def run(module: Any) -> None:
        waiting = []
        before = signal.signal(signal.SIGINT, lambda *_: waiting.append(True))
        try:
            execute(module)
        finally:
            signal.signal(signal.SIGINT, before)
            if waiting:
                signal.raise_signal(signal.SIGINT)

    return run


def restore_handlers() -> None:
    """Install Python's handlers for signals to stop again, after a library has replaced them.

    Only the main thread can; elsewhere nothing happens.
    """
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            signal.signal(number, signal.getsignal(number))


@contextlib.contextmanager
def left_to_parent() -> Iterator[None]:
    """Processes that are started within the block never get a signal to stop: their parent, who gets it, ends them.

    The signals are blocked before a process exists. Were they ignored by the process itself, one that comes during its
    imports, before any code of its own, would end it with a traceback; and a parent whose processes end before it does
    would take them for killed.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def temporary_folder(prefix: str = "audit-") -> Iterator[Path]:
    """A new folder for temporary files, removed at the end of the block, at the latest with the process."""
    import shutil
    import tempfile

    folder = Path(tempfile.gettempdir(), f"{prefix}{os.urandom(8).hex()}")
    _folders[folder] = os.getpid()  # first, since a signal may come between any two steps
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _folders.pop(folder, None)


@atexit.register
def _remove_folders() -> None:
    """Remove the temporary folders that are left of this process."""
    for folder in [each for each, owner in list(_folders.items()) if owner == os.getpid()]:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        _folders.pop(folder, None)


def _answered() -> list[int]:
    """The signals that whoever started the process has not had ignored, as `nohup` does."""
    return [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


def _exit(message: str) -> None:
    _remove_folders()
    with contextlib.suppress(OSError, ValueError):
        print(message, end="\n" if message else "", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


def _unless_stopped(hook: Any) -> Any:
    return lambda details: None if _stopped.is_set() else hook(details)
