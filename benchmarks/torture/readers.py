"""Every command that reads records, on a few mutated ones: all leave the same lines out, and say so."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

from benchmarks.torture import oracle
from benchmarks.torture.mutations import mutate
from benchmarks.torture.running import Ended, call, check, run
from benchmarks.torture.trial import Trial, typed

MUTATED: Final = 8
CELL: Final = Path("simulated") / "frozenlake" / "threetraj" / "run-01"

_TABLES: Final = (
    *("summary", "controls", "agreement", "patterns", "runs", "mentions", "find", "sensitivity", "check"),
    *("rescore --rollouts 2", "anchor --rollouts 2", "calibrate", "sample", "verify", "verify --all", "judge --backend ollama --plan"),
)
_DETECTED: Final = ("salience", "rates", "noise", "severity", "revisions")
_DETECTORS: Final = ("word", "phrase", "resolved", "driver")
_STATS: Final = ("metrics", "compare --reference threetraj", "aggregate", "profile", "efficiency", "ranks")

COMMANDS: Final[tuple[tuple[str, str], ...]] = (
    *(("audit", f"{name} DIR {' '.join(options)}") for name, *options in map(str.split, _TABLES)),
    *(("audit", f"{name} DIR --detector {detector}") for name in _DETECTED for detector in _DETECTORS),
    ("audit", "sql DIR QUERY"),
    ("audit", "show DIR frozenlake threetraj 1 ITERATION"),
    ("audit", "replay DIR frozenlake threetraj 1 ITERATION 0"),
    ("audit", "validate LABELS DIR"),
    ("audit", "pack DIR --out PACK --force"),
    *(("stats", f"{name} DIR {' '.join(options)}") for name, *options in map(str.split, _STATS)),
    ("figures", "DIR --out PAGE"),
)
"""Command lines, with words in capitals for what each attempt fills in."""
RARELY: Final = frozenset({"figures"})
"""Programs that take long, and are run in one attempt of ten."""


def attempt(trial: Trial) -> None:
    """Mutate some lines of one run, and give the data set to every command."""
    rng = trial.rng
    data = trial.folder / "data"
    shutil.copytree(base(trial), data)
    file = data / CELL / "episodes.jsonl"
    described = json.loads((data / CELL / "run.json").read_bytes())
    lines = file.read_bytes().splitlines()
    done = {}
    for number in rng.sample(range(len(lines)), rng.randint(1, min(MUTATED, len(lines)))):
        lines[number], done[number + 1] = mutate(rng, json.loads(lines[number]))
    file.write_bytes(b"\n".join(lines) + b"\n")
    earlier: set[int] = set()
    verdicts = {
        number: oracle.read_line(line, described, earlier)
        for number, line in enumerate(file.read_bytes().split(b"\n"), start=1)
        if not oracle.is_blank(line)
    }
    for program, template in COMMANDS:
        if program in RARELY and trial.number % 10:
            continue
        arguments = _filled(template, trial, data)
        trial.step(typed(program, *arguments), 60.0)
        ended = call(program, *arguments)
        trial.count()
        if check(trial, ended, program, *arguments, shown=data):
            _compare(trial, program, arguments, ended, verdicts, done, data)


def base(trial: Trial) -> Path:
    """Sound records of a few runs, collected once by each process."""
    kept = trial.folder.parent / "base"
    if not kept.exists():
        trial.step("collecting what is to be mutated", 300.0)
        methods = [word for name in ("threetraj", "r2po", "puresearch") for word in ("--variant", name)]
        settings = "--env frozenlake --runs 2 --iterations 10 --rollouts 3 --warmup 2 --condition simulated --quiet --out base".split()
        ended = run("collect", *methods, *settings, folder=trial.folder.parent)
        if ended.status != 0:
            raise RuntimeError(ended.err)
        trial.step("drawing answers to code")
        (trial.folder.parent / "labels.csv").write_text(call("audit", "sample", kept).out)
    return kept


def _filled(template: str, trial: Trial, data: Path) -> list[str]:
    words = {
        "DIR": str(data),
        "QUERY": "select * from revision_details",
        "ITERATION": str(trial.rng.randrange(10)),
        "LABELS": str(trial.folder.parent / "labels.csv"),
        "PACK": str(trial.folder / "x.pack.parquet"),
        "PAGE": str(trial.folder / "page"),
    }
    return [words.get(word, word) for word in template.split()]


def _compare(
    trial: Trial,
    program: str,
    arguments: list[str],
    ended: Ended,
    verdicts: dict[int, oracle.Verdict],
    done: dict[int, str],
    data: Path,
) -> None:
    """Whether a command names every line that must be left out, and no other."""
    command = arguments[0] if program != "figures" else program
    named = {int(number) for number in re.findall(r"run-01/episodes\.jsonl:(\d+)\b", ended.err)}
    must = {number for number, verdict in verdicts.items() if not verdict.accepted and not verdict.is_open}
    may = must | {number for number, verdict in verdicts.items() if verdict.is_open}
    contradictions = {number for number, verdict in verdicts.items() if verdict.is_contradiction}
    line = typed(program, *arguments).replace(str(data), "{}").replace("'{}'", "{}")

    def tell(kind: str, numbers: set[int], verdict: Any) -> None:
        number = min(numbers)
        what = f"line {number}, {done.get(number, '')}: {verdict}\n{ended.err[:600]}"
        trial.fail(f"{command}: {kind}", what, line, data)

    # Those that tell what numbers do not fit together may keep such lines, and say so in another way.
    if missed := must - named - contradictions:
        tell("a line that must be left out is not named", missed, verdicts[min(missed)].why)
    if extra := named - may:
        verdict = verdicts.get(min(extra))
        tell("a sound line is named", extra, verdict)
