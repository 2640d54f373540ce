"""What two checkouts print and write, side by side: every command that reads records, on the same data sets.

    python -m tests.compare_outputs --before CHECKOUT [--after CHECKOUT] --data DIR [--data …]

A command runs once with the packages of each checkout (PYTHONPATH), in an empty folder and with a cache of its own.
Standard output, standard error, exit status and the files that it writes are compared byte for byte, the checkouts' own
paths and lines of progress aside. For each command one line is printed, `equal` or `differs`, the latter with the first
lines of the difference. The exit status is 1 where anything differs.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import re
import shlex
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

# DATA is replaced by the data set, PLACE by the task, method, run and iteration of its first revision; FORMAT by
# --format with each format in turn. Steps are separated by `;`, and `> NAME` keeps what one prints for those behind it.
COMMANDS = """
audit summary DATA FORMAT
audit summary DATA --env nowhere
audit summary DATA/missing
audit runs DATA FORMAT
audit lineage DATA FORMAT
audit lineage DATA --runs
audit revisions DATA FORMAT
audit revisions DATA FORMAT --columns delta,env --sort -delta --limit 5
audit patterns DATA FORMAT
audit patterns DATA FORMAT --wide
audit salience DATA FORMAT
audit salience DATA --detector phrase
audit salience DATA --detector resolved --about best
audit salience DATA --detector nobody
audit rates DATA FORMAT
audit rates DATA --detector resolved
audit severity DATA FORMAT
audit noise DATA FORMAT
audit controls DATA FORMAT
audit agreement DATA FORMAT
audit positions DATA FORMAT
audit sensitivity DATA FORMAT
audit sensitivity DATA --steps 2 --spread 1
audit check DATA FORMAT
audit check DATA --facts FORMAT
audit find DATA --case salience FORMAT
audit find DATA --case nonsense
audit find DATA --cases
audit show DATA PLACE
audit show DATA PLACE --format json
audit replay DATA PLACE 0 FORMAT
audit rescore DATA --rollouts 5 --sample 20 FORMAT
audit verify DATA --sample 20 FORMAT
audit calibrate DATA FORMAT
audit sql DATA
audit sql DATA 'from summary order by all' FORMAT
audit sample DATA --n 9 --coders A,B > sheet.csv; audit validate sheet.csv DATA
audit judge DATA --backend ollama --model m --plan
audit export chat-jsonl DATA --out answers.jsonl --role search
audit pack DATA --out d.pack.parquet; audit summary d.pack.parquet; audit check d.pack.parquet
audit view DATA --export pages
audit runs DATA --format csv > log.csv; audit import --guess log.csv; audit import --map log.csv.toml log.csv --out o
audit critic --backend simulated --units 2 --dry-run --out one
audit critic --backend simulated --units 2 --out one; audit critics one two
audit remedy plan DATA --backend simulated --units 2 --out p; audit remedy run p; audit remedy report p
audit intervene plan DATA --backend simulated --units 2 --rollouts 0 --dry-run
audit intervene plan DATA --backend simulated --units 2; audit intervene run plan.json; audit intervene report plan.json
audit intervene plan DATA --backend simulated --units 2; audit intervene run plan.json; audit intervene show plan.json 1
stats metrics DATA FORMAT
stats compare DATA FORMAT
stats compare DATA --metric best_return
stats aggregate DATA FORMAT
stats profile DATA FORMAT
stats efficiency DATA FORMAT
stats ranks DATA FORMAT
stats metrics DATA --env nowhere
stats check no-table.csv
figures DATA --out drawn
collect --env nim --variant r2po --dry-run
"""

# How far a command is depends on the moment.
PROGRESS = re.compile(r"^\w+: \d+ of \d+, .* left\n", re.MULTILINE)
# What states when it was made or how long that took; answers come in the order in which they are ready.
MOMENT = re.compile(rb'"(?:seconds|\w+_at)":\s*[^,}]+')
DATED = {".pdf", ".png", ".html", ".parquet", ".zip"}


class Outcome(NamedTuple):
    """What a command prints, writes, and how it ends."""

    status: int
    out: str
    err: str
    files: str = ""


def run(command: str, checkout: Path, cache: Path) -> Outcome:
    """Run the steps of a command with the packages of a checkout, in a folder of their own."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "SALIENCE_AUDIT_CACHE": str(cache), "COLUMNS": "100"}
    status, printed = 0, {"out": "", "err": ""}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for step in command.split("; "):
            words, _, file = step.partition(" > ")
            program, *arguments = shlex.split(words)
            script = f"import sys; sys.argv[0] = {program!r}; from {collected(program)}.cli import main; main()"
            done = subprocess.run(
                [sys.executable, "-c", script, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            status = status or done.returncode
            printed["out"] += done.stdout
            printed["err"] += PROGRESS.sub("", done.stderr)
            if file:
                (folder / file).write_text(done.stdout.replace(str(checkout), "CHECKOUT"))
        files = "\n".join(_digest(path, folder) for path in sorted(folder.rglob("*")) if path.is_file())
    out, err = (text.replace(str(checkout), "CHECKOUT") for text in printed.values())
    return Outcome(status, out, err, files)


def _digest(path: Path, folder: Path) -> str:
    content = b"" if path.suffix in DATED else b"".join(sorted(MOMENT.sub(b"", path.read_bytes()).splitlines()))
    return f"{path.relative_to(folder)} {hashlib.sha256(content).hexdigest()[:16]}"


def collected(program: str) -> str:
    """The package of a program."""
    return "collector" if program == "collect" else program


def commands(data: Path | None, place: Sequence[str], formats: Sequence[str], only: Sequence[str]) -> Iterator[str]:
    """Every command on a data set, in every format; those that read none where there is no data set."""
    for template in COMMANDS.strip().splitlines():
        if ("DATA" in template) == (data is None) or (only and not {*template.split()[:2]} & {*only}):
            continue
        filled = template.replace("DATA", str(data)).replace("PLACE", shlex.join(place))
        for each in formats if "FORMAT" in template else ("",):
            yield filled.replace("FORMAT", f"--format {each}")


def first_revision(data: Path, checkout: Path, cache: Path) -> list[str]:
    """Where the first revision of a data set is found: task, method, run, iteration, and its condition."""
    rows = run(f"audit revisions {data} --format json", checkout, cache)
    try:
        row = json.loads(rows.out)[0]
    except (ValueError, IndexError):
        return ["cartpole", "threetraj", "1", "0"]
    place = [str(row[name]) for name in ("env", "variant", "run", "iteration")]
    return ["--condition", row["condition"], *place]


def renamed(outcome: Outcome, renames: Sequence[tuple[str, str]]) -> Outcome:
    """The outcome after known renames, of whole words."""
    out, err = outcome.out, outcome.err
    for old, new in renames:
        out, err = (re.sub(rf"\b{re.escape(old)}\b", lambda _, new=new: new, text) for text in (out, err))
    return outcome._replace(out=out, err=err)


def differences(before: Outcome, after: Outcome, lines: int = 12) -> list[str]:
    """What differs, shortened; nothing where the outcomes are equal."""
    found = [] if before.status == after.status else [f"exit status: {before.status}, then {after.status}"]
    for name, old, new in zip(("standard output", "standard error", "files"), before[1:], after[1:], strict=True):
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
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="only these programs or commands")
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

        def both(command: str) -> list[str]:
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
