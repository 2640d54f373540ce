"""Every command that reads records, on a few mutated ones: all leave the same lines out, and report them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.torture import oracle
from benchmarks.torture.mutations import mutate
from benchmarks.torture.running import call, check, run
from benchmarks.torture.trial import Trial, shown_line, typed

MUTATED: Final = 8
CELL: Final = Path("simulated") / "frozenlake" / "threetraj" / "run-01"

_TABLES: Final = (
    *(
        "summary",
        "controls",
        "agreement",
        "patterns",
        "runs",
        "mentions",
        "topics",
        "positions",
        "find --case salience",
        "sensitivity",
        "obedience",
        "obedience --bins",
        "check",
    ),
    *(
        "rescore --rollouts 2",
        "anchor --controls 19 --sample 2",
        "calibrate",
        "sample",
        "verify",
        "verify --all",
        "verify --all --workers 2",
        "judge --backend ollama --plan",
    ),
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
    ("audit", "export DIR --format chat-jsonl --out EXPORT --force"),
    ("audit", "view DIR --export VIEW"),
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
    sound = [verdict.record["iteration"] for verdict in verdicts.values() if verdict.accepted and verdict.record]
    first: set[int] | None = None
    for program, template in COMMANDS:
        if program in RARELY and trial.number % 10:
            continue
        if "ITERATION" in template and not sound:
            continue
        arguments = _filled(template, trial, data, sound)
        trial.step(typed(program, *arguments), 60.0)
        ended = call(program, *arguments)
        trial.count()
        if not check(trial, ended, program, *arguments, shown=data):
            continue
        if ended.status == 2:
            raise RuntimeError(f"{typed(program, *arguments)}: {ended.err}")
        named = {int(number) for number in re.findall(r"run-01/episodes\.jsonl:(\d+)\b", ended.err)}
        line = shown_line(program, arguments, data)
        verdicts_by_line = "\n".join(
            f"{number}: {done.get(number)}: {verdicts[number].why or 'sound'}" for number in sorted(verdicts)
        )
        if first is None:
            first = named
            for kind, number in _wrong(named, verdicts):
                trial.fail(kind, f"line {number}: {done.get(number)}\n{ended.err[:600]}", line, data)
        # Those that report contradictory numbers may keep such lines, and report them in another way.
        elif differing := {
            each for each in named ^ first if each not in verdicts or not verdicts[each].is_contradiction
        }:
            name = program if program == "figures" else arguments[0]
            what = f"lines {sorted(differing)}\n{verdicts_by_line}\n{ended.err[:600]}"
            trial.fail(f"{name} leaves out other lines than audit {COMMANDS[0][1].split()[0]}", what, line, data)


def _wrong(named: set[int], verdicts: dict[int, oracle.Verdict]) -> Iterator[tuple[str, int]]:
    for number, verdict in verdicts.items():
        if verdict.is_open:
            continue
        if verdict.accepted and number in named:
            yield "a sound line is left out", number
        elif not verdict.accepted and number not in named:
            yield f"not left out, though {verdict.field} {verdict.why}", number


def base(trial: Trial) -> Path:
    """Sound records of a few runs, collected once by each process."""
    kept = trial.folder.parent / "base"
    if not kept.exists():
        trial.step("collecting what is to be mutated", 300.0)
        methods = [word for name in ("threetraj", "r2po", "puresearch") for word in ("--variant", name)]
        settings = "--env frozenlake --runs 2 --iterations 10 --rollouts 3 --warmup 2"
        words = [*methods, *settings.split(), "--condition", "simulated", "--quiet", "--out", "base"]
        ended = run("collect", *words, folder=trial.folder.parent)
        if ended.status != 0:
            raise RuntimeError(ended.err)
        trial.step("drawing answers to code")
        (trial.folder.parent / "labels.csv").write_text(call("audit", "sample", kept).out)
    return kept


def _filled(template: str, trial: Trial, data: Path, sound: Sequence[int]) -> list[str]:
    words = {
        "DIR": str(data),
        "QUERY": "select * from revisions",
        "ITERATION": str(trial.rng.choice(sound) if sound else 0),
        "LABELS": str(trial.folder.parent / "labels.csv"),
        "PACK": str(trial.folder / "x.pack.parquet"),
        "EXPORT": str(trial.folder / "x.jsonl"),
        "VIEW": str(trial.folder / "view"),
        "PAGE": str(trial.folder / "page"),
    }
    return [words.get(word, word) for word in template.split()]
