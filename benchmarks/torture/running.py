"""The project's commands, run in this process for speed or in one of their own, and what no command may do."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.torture.trial import COMMANDS, PATIENCE, Trial, environment, python, shown_line, typed

LEAKS: Final = (
    "Traceback (most recent",
    "Value error",
    "<class '",
    " object at 0x",
    "NoneType",
    "site-packages",
    "ExceptionGroup",
)
STATUSES: Final = frozenset({0, 1, 2})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `error` is the exception that it did not catch, and where it came from."""

    status: int | None
    out: str
    err: str
    error: str = ""


def call(program: str, *arguments: object) -> Ended:
    """Run a command in this process, with its own standard streams, as the shell would."""
    kept = {number: os.dup(number) for number in (0, 1, 2)}
    argv, handler, folder = sys.argv, signal.getsignal(signal.SIGTERM), Path.cwd()
    status: int | None = None
    error = ""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for number, file in ((0, nothing), (1, out), (2, err)):
                os.dup2(file.fileno(), number)
            sys.argv = [program, *map(str, arguments)]
            try:
                importlib.import_module(COMMANDS[program]).main()
                status = 0
            except SystemExit as ended:
                code = ended.code
                status = code if isinstance(code, int) else 0 if code is None else 1
            except BaseException as raised:  # what a shell would show as a traceback
                last = traceback.extract_tb(raised.__traceback__)[-1]
                error = f"{type(raised).__name__} in {Path(last.filename).name}, {last.name}"
                traceback.print_exc(limit=-4)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, duplicate in kept.items():
                os.dup2(duplicate, number)
                os.close(duplicate)
            sys.argv = argv
            signal.signal(signal.SIGTERM, handler)
            os.chdir(folder)
        return Ended(status, _content(out.fileno()), _content(err.fileno()), error)


def run(program: str, *arguments: object, folder: Path, more: Mapping[str, str] | None = None) -> Ended:
    """Run a command in a process of its own."""
    try:
        done = subprocess.run(
            python(program, *arguments),
            cwd=folder,
            env={**environment(folder / ".own"), **(more or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=4 * PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return Ended(None, "", "", "a hang")
    return Ended(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def faults(ended: Ended) -> Iterator[tuple[str, str]]:
    """What no command may do, whatever it was given: kinds, and what shows them."""
    if ended.error:
        yield ended.error, ended.err[-1500:]
        return
    if ended.status not in STATUSES:
        yield f"exit status {ended.status}", ended.err[-1500:]
    for leak in LEAKS:
        if leak in ended.err or leak in ended.out:
            yield f"{leak!r} in the output", _around(ended.err + ended.out, leak)
            break
    if ended.status and not ended.err.strip():
        yield "fails without a word", ended.out[-300:]
    for stream, text in (("standard output", ended.out), ("standard error", ended.err)):
        if acting := sorted({each for each in text if unicodedata.category(each)[0] == "C" and each not in "\n\t"}):
            yield f"control characters in {stream}", f"{acting!r}: {_around(text, acting[0])!r}"


def check(trial: Trial, ended: Ended, program: str, *arguments: object, shown: Path | None = None) -> bool:
    """Report what a command may not do; returns whether there was nothing.

    Args:
        trial: failures are reported to it.
        ended: how the command ended.
        program: it.
        arguments: its own; what begins with the path `shown` is kept for seeing the failure again.
        shown: data that it was given.
    """
    sound = True
    for kind, what in faults(ended):
        sound = False
        words = [str(each) for each in arguments]
        line = typed(program, *words) if shown is None else shown_line(program, words, shown)
        name = program if program in ("collect", "figures") else f"{program} {words[0] if words else ''}"
        where = "" if ended.error or " in the output" in kind else f"{name}: "
        trial.fail(f"{where}{kind}", f"{typed(program, *words)[:300]}\n{what}", line, shown)
    return sound


def _around(text: str, part: str) -> str:
    at = text.find(part)
    return re.sub(r"\s+", " ", text[max(0, at - 150) : at + 250])


def _content(descriptor: int) -> str:
    return os.pread(descriptor, 2**24, 0).decode(errors="backslashreplace")
