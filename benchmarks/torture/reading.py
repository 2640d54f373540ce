"""Every command that reads records, on a few mutated ones: all leave the same lines out, and report them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from benchmarks.torture import oracle
from benchmarks.torture.campaign import PATIENCE, Trial, environment
from benchmarks.torture.commands import call, python, tried
from benchmarks.torture.drawing import mutated
from benchmarks.torture.records import SEEDS

READING: Final[dict[str, tuple[str, ...]]] = {
    "audit": (
        *(
            "summary",
            "controls",
            "agreement",
            "patterns",
            "runs",
            "mentions",
            "topics",
            "positions",
            "sensitivity",
            "check",
        ),
        *(
            "find --case salience",
            "obedience",
            "obedience --bins",
            "rescore --rollouts 2",
            "anchor --controls 19 --sample 2",
        ),
        *("calibrate", "sample", "verify", "verify --all", "verify --all --workers 2", "judge --backend ollama --plan"),
        *(
            f"{name} --detector {detector}"
            for name in ("salience", "rates", "noise", "severity", "revisions")
            for detector in ("word", "phrase", "resolved", "driver")
        ),
        *("sql DIR QUERY", "show DIR frozenlake threetraj 1 ITERATION", "validate LABELS DIR"),
        *("replay DIR frozenlake threetraj 1 ITERATION 0", "pack DIR --out PACK --force"),
        *("export DIR --format chat-jsonl --out EXPORT --force", "view DIR --export VIEW"),
    ),
    "stats": ("metrics", "compare --reference threetraj", "aggregate", "profile", "efficiency", "ranks"),
    "figures": ("DIR --out PAGE",),
}
"""Command lines, with words in capitals for what each example fills in, the data in front by default."""


def command_lines(trial: Trial, data: Path, **words: object) -> Iterator[tuple[str, list[str]]]:
    """Programs and their arguments, the words in capitals filled in."""
    places = {"PACK": "x.pack.parquet", "EXPORT": "x.jsonl", "VIEW": "view", "PAGE": "page"}
    filled = {word: trial.folder / name for word, name in places.items()} | {"DIR": data} | words
    for program, templates in READING.items():
        for template in templates if program != "figures" or trial.number % 5 == 0 else ():
            first, *rest = template.split()
            parts = [first, *rest] if "DIR" in (first, *rest) else [first, "DIR", *rest]
            yield program, [str(filled.get(word, word)) for word in parts]


def base(trial: Trial) -> Path:
    """Sound records of a few runs, collected once in a campaign."""
    kept = trial.room / "base"
    if not kept.exists():
        trial.step("collecting what is to be mutated", 10 * PATIENCE)
        methods = [word for name in ("threetraj", "r2po", "puresearch") for word in ("--variant", name)]
        settings = (
            "--env frozenlake --runs 2 --iterations 10 --rollouts 3 --warmup 2 --condition simulated --quiet --out"
        )
        own = Path(tempfile.mkdtemp(dir=trial.room))
        line = python("collect", *methods, *settings.split(), own / "base")
        subprocess.run(line, cwd=own, env=environment(own), capture_output=True, check=True)
        (trial.room / "labels.csv").write_text(call("audit", "sample", own / "base").out)
        if not kept.exists():  # another attempt may have been faster
            (own / "base").rename(kept)
    return kept


def readers(trial: Trial, draw: Callable[..., Any]) -> None:
    """Mutate up to eight lines of one run, and give the data set to every command that reads records."""
    data = trial.folder / "data"
    shutil.copytree(base(trial), data)
    file = data / "simulated" / "frozenlake" / "threetraj" / "run-01" / "episodes.jsonl"
    run, lines = json.loads(file.with_name("run.json").read_bytes()), file.read_bytes().splitlines()
    for number, seed in draw(st.dictionaries(st.integers(0, len(lines) - 1), SEEDS, min_size=1, max_size=8)).items():
        lines[number] = mutated(Random(seed), json.loads(lines[number]))[0]
    file.write_bytes(b"\n".join(lines) + b"\n")
    earlier: set[int] = set()
    numbered = enumerate(file.read_bytes().split(b"\n"), start=1)
    verdicts = {number: oracle.read_line(line, run, earlier) for number, line in numbered if line.strip(b" \t\r\n")}
    either = {number for number, verdict in verdicts.items() if verdict.is_open}
    wrong = {number for number, verdict in verdicts.items() if not verdict.accepted} - either
    contradict = {number for number, verdict in verdicts.items() if verdict.is_contradiction}
    words = {"LABELS": trial.room / "labels.csv", "QUERY": "select * from revisions", "ITERATION": min(earlier or {0})}
    first: set[int] | None = None
    for program, arguments in command_lines(trial, data, **words):
        if arguments[0] in ("show", "replay") and not earlier:
            continue
        ended = tried(trial, program, arguments, data)
        if ended.status == 2:
            raise RuntimeError(f"{program} {arguments}: {ended.err}")
        named = {int(number) for number in re.findall(r"run-01/episodes\.jsonl:(\d+)\b", ended.err)}
        line = shlex.join([program, *arguments])
        if first is None:
            first = named
            for number in (named ^ wrong) - either:
                kind = f"not left out, though {verdicts[number].field} {verdicts[number].why}"
                trial.fail(
                    kind if number in wrong else "a sound line is left out", f"line {number}\n{ended.err}", line, data
                )
        # Those that report contradictory numbers may keep such lines, and report them in another way.
        elif differing := (named ^ first) - contradict:
            name = program if program == "figures" else arguments[0]
            trial.fail(
                f"{name} leaves out other lines than audit summary", f"{differing}\n{ended.err[:600]}", line, data
            )
