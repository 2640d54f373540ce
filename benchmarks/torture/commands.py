"""The project's commands, run in this process: on mutated records, with random command lines, and on odd names."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
import sys
import tempfile
import traceback
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.torture.campaign import PATIENCE, Trial, where

Faults = Iterator[tuple[str, str]]
PROGRAMS: Final = {"collect": "collector.cli", "audit": "audit.cli", "stats": "stats.cli", "figures": "figures.cli"}
LEAKS: Final = ("Traceback (most recent", "Value error", "<class '", " object at 0x", "NoneType", "site-packages")
EXAMPLES: Final = Path(__file__).parents[2] / "docs" / "examples"


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
    status, error = None, ""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
        try:
            for number, file in ((0, nothing), (1, out), (2, err)):
                os.dup2(file.fileno(), number)
            sys.argv = [program, *map(str, arguments)]
            try:
                importlib.import_module(PROGRAMS[program]).main()
                status = 0
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
            except BaseException as raised:  # what a shell would show as a traceback
                error = where(raised)
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
        texts = (os.pread(file.fileno(), 2**24, 0).decode(errors="backslashreplace") for file in (out, err))
        return Ended(status, *texts, error)


def python(program: str, *arguments: object) -> list[str]:
    """The command line of one of the project's programs, for a process of its own."""
    return [sys.executable, "-c", f"from {PROGRAMS[program]} import main; main()", *map(str, arguments)]


def faults(ended: Ended) -> Faults:
    """What no command may do, whatever it was given: kinds, and what shows them."""
    if ended.error:
        yield ended.error, ended.err[-1500:]
        return
    if ended.status not in (0, 1, 2):
        yield f"exit status {ended.status}", ended.err[-1500:]
    if leaks := [leak for leak in LEAKS if leak in ended.err + ended.out]:
        yield f"{leaks[0]!r} in the output", _around(ended.err + ended.out, leaks[0])
    if ended.status and not ended.err.strip():
        yield "fails without a word", ended.out[-300:]
    for stream, text in (("standard output", ended.out), ("standard error", ended.err)):
        if acting := sorted({each for each in text if unicodedata.category(each)[0] == "C"} - {"\n", "\t"}):
            yield f"control characters in {stream}", f"{acting!r}: {_around(text, acting[0])!r}"


def _around(text: str, part: str) -> str:
    at = text.find(part)
    return re.sub(r"\s+", " ", text[max(0, at - 150) : at + 250])


def tried(
    trial: Trial, program: str, arguments: list[str], shown: Path | None = None, seconds: float = 2 * PATIENCE
) -> Ended:
    """Run a command, and report what no command may do."""
    line = shlex.join([program, *arguments])
    trial.step(line if shown is None else f"{line}  # {trial.again}", seconds)
    ended = call(program, *arguments)
    trial.count()
    name = program if program in ("collect", "figures") else " ".join([program, *arguments[:1]])
    found = ((kind if ended.error else f"{name}: {kind}", f"{line[:300]}\n{what}") for kind, what in faults(ended))
    trial.check(found, line, shown)
    return ended
