"""What two checkouts print, side by side: every command that reads records, on the same data sets.

    python -m tests.compare_outputs --before CHECKOUT [--after CHECKOUT] --data DIR [--data …]

A command runs once with the packages of each checkout (PYTHONPATH), in an empty folder and with a cache of its own.
Standard output, standard error and exit status are compared byte for byte, the checkouts' own paths and lines of
progress aside. For each command one line is printed, `equal` or `differs`, the latter with the first lines of the
difference. The exit status is 1 where anything differs.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FORMATS = ("json", "csv", "table")
PROGRAMS = {
    "audit": "import sys; sys.argv[0] = 'audit'; from audit.cli import main; main()",
    "stats": "import sys; sys.argv[0] = 'stats'; from stats.cli import main; main()",
}

# DATA is replaced by the data set, PLACE by the task, method, run and iteration of its first revision.
COMMANDS = {
    "audit": (
        *("summary DATA", "runs DATA", "revisions DATA", "patterns DATA", "patterns DATA --wide", "severity DATA"),
        *(
            f"{name} DATA --detector {detector}"
            for name in ("salience", "rates")
            for detector in ("phrase", "resolved")
        ),
        *("salience DATA", "rates DATA", "noise DATA", "controls DATA", "agreement DATA", "mentions DATA"),
        *("sensitivity DATA", "sensitivity DATA --steps 2 --spread 1", "check DATA", "check DATA --facts"),
        *("find DATA --case salience", "find DATA --case nonsense", "show DATA PLACE", "replay DATA PLACE 0"),
        *("rescore DATA --rollouts 5 --sample 20", "anchor DATA --sample 20", "verify DATA --sample 20"),
        *("calibrate DATA --no-behaviour", "sql DATA"),
        "sql DATA 'from summary order by all'",
        *("summary DATA --env nowhere", "salience DATA --detector nobody", "summary DATA/missing"),
    ),
    "stats": (
        *("metrics DATA", "compare DATA", "compare DATA --metric best_return", "aggregate DATA", "profile DATA"),
        *("efficiency DATA", "ranks DATA", "metrics DATA --env nowhere", "paper"),
    ),
}

# How far a command is depends on the moment.
PROGRESS = re.compile(r"^\w+: \d+ of \d+, .* left\n", re.MULTILINE)


class Outcome(NamedTuple):
    """What a command prints and how it ends."""

    status: int
    out: str
    err: str


class Command(NamedTuple):
    """A program, and its arguments."""

    program: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.program, *self.arguments))


def run(command: Command, checkout: Path, cache: Path) -> Outcome:
    """Run a command with the packages of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "SALIENCE_AUDIT_CACHE": str(cache), "COLUMNS": "100"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS[command.program], *command.arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    out, err = (text.replace(str(checkout), "CHECKOUT") for text in (done.stdout, PROGRESS.sub("", done.stderr)))
    return Outcome(done.returncode, out, err)


def commands(data: Path | None, place: Sequence[str], formats: Sequence[str], only: Sequence[str]) -> Iterator[Command]:
    """Every command on a data set, in every format; those that read none where there is no data set."""
    for program, templates in COMMANDS.items():
        for template in templates:
            if ("DATA" in template) == (data is None) or (only and template.split()[0] not in only):
                continue
            words: list[str] = []
            for word in re.findall(r"'[^']*'|\S+", template):
                words += place if word == "PLACE" else [word.strip("'").replace("DATA", str(data))]
            for each in formats:
                if template.startswith("show ") and each == "csv":
                    continue
                words_of_format = [] if each == "table" else ["--format", each]
                yield Command(program, (*words, *words_of_format))


def first_revision(data: Path, checkout: Path, cache: Path) -> list[str]:
    """Where the first revision of a data set is found: task, method, run, iteration, and its condition."""
    rows = run(Command("audit", ("revisions", str(data), "--format", "json")), checkout, cache)
    try:
        row = json.loads(rows.out)[0]
    except (ValueError, IndexError):
        return ["cartpole", "threetraj", "1", "0"]
    place = [str(row[name]) for name in ("env", "variant", "run", "iteration")]
    return [*place, "--condition", row["condition"]]


def renamed(outcome: Outcome, renames: Sequence[tuple[str, str]]) -> Outcome:
    """The outcome after known renames, of whole words."""
    out, err = outcome.out, outcome.err
    for old, new in renames:
        out, err = (re.sub(rf"\b{re.escape(old)}\b", lambda _, new=new: new, text) for text in (out, err))
    return Outcome(outcome.status, out, err)


def differences(before: Outcome, after: Outcome, lines: int = 12) -> list[str]:
    """What differs, shortened; nothing where the outcomes are equal."""
    found = [] if before.status == after.status else [f"exit status: {before.status}, then {after.status}"]
    for name, old, new in (("standard output", before.out, after.out), ("standard error", before.err, after.err)):
        if old != new:
            diff = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
            shown = [line[:240] for line in islice(diff, 2, 2 + lines)]
            found += [f"{name}:", *(shown or ["line breaks alone"])]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print a line for each command, and give the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.compare_outputs", description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="a checkout")
    parser.add_argument("--after", type=Path, default=ROOT, help="another (default: this one)")
    parser.add_argument("--data", type=Path, action="append", default=[], help="a data set; may be repeated")
    parser.add_argument("--format", choices=FORMATS, action="append", help="only these formats (default: all)")
    parser.add_argument("--only", metavar="COMMAND", action="append", default=[], help="only these commands")
    parser.add_argument("--rename", metavar="OLD=NEW", action="append", default=[], help="a known rename, word by word")
    parser.add_argument("--jobs", type=int, default=2, help="commands at the same time (default: 2)")
    given = parser.parse_args(arguments)
    if wrong := [text for text in given.rename if "=" not in text.strip("=")]:
        parser.error(f"--rename {wrong[0]}: not OLD=NEW")
    renames = [tuple(text.split("=", 1)) for text in given.rename]
    checkouts = [given.before.resolve(), given.after.resolve()]
    formats = given.format or FORMATS
    different = total = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        caches = [Path(folder, name) for name in ("before", "after")]
        listed = list(commands(None, [], formats, given.only))
        for data in given.data:
            place = first_revision(data.resolve(), checkouts[0], caches[0])
            listed += commands(data.resolve(), place, formats, given.only)

        def both(command: Command) -> list[str]:
            before, after = (run(command, *where) for where in zip(checkouts, caches, strict=True))
            return differences(renamed(before, renames), after)

        for command, found in zip(listed, pool.map(both, listed), strict=True):
            total += 1
            different += bool(found)
            print("\n    ".join([f"{'differs' if found else 'equal  '} {command}", *found]), flush=True)
    print(f"{total - different} equal, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
