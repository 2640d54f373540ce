"""Random command lines: options of every command with values that fit them or not, run in this process."""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.torture import readers
from benchmarks.torture.running import call, check
from benchmarks.torture.trial import COMMANDS, PATIENCE, Trial, typed

EACH: Final = 40
"""Command lines of an attempt."""

WORDS: Final = (
    *(
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "2",
        "3",
        "1.5",
        "-0.5",
        "0.05",
        "1e3",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "0x10",
        "１",
    ),
    *(
        "99999999999999999999",
        str(2**63),
        "-99999999999999999999",
        "1e-400",
        "None",
        "null",
        "true",
        "all",
        "[]",
        "{}",
        "a=b",
    ),
    *(
        "frozenlake",
        "cartpole",
        "nosuch",
        "threetraj",
        "r2po",
        "simulated",
        "word",
        "driver",
        "judge",
        "table",
        "json",
        "csv",
    ),
    *(
        "markdown",
        "latex",
        "~",
        ".",
        "..",
        "/dev/null",
        "data",
        "base",
        "labels.csv",
        "nowhere/at/all",
        "a\nb",
        "ä",
        "\x1b[31m",
    ),
    *("$x$", "'", '"', "`", "select 1", "select * from episodes", "delta > 0", "x'; drop table y", "cartpole.high=460"),
    *(
        "cartpole.high=nan",
        "cartpole.nosuch=1",
        "frozenlake.high=0.1,0.5",
        "%s",
        "{0}",
        "*",
        "a" * 300,
        "fifo.jsonl",
        "empty",
    ),
    *(
        "broken.tar.gz",
        "text.txt",
        "theirs.toml",
        "theirs.jsonl",
        "x.pack.parquet",
        "mean_return",
        "regressions_pct",
        "std",
    ),
)
HINTS: Final[dict[str, tuple[str, ...]]] = {
    "--env": ("frozenlake", "cartpole", "nosuch", "all"),
    "--variant": ("threetraj", "r2po", "props", "nosuch"),
    "--condition": ("simulated", "nosuch", "a/b", "..", "$x$"),
    "--format": ("table", "json", "csv", "markdown", "latex", "xml"),
    "--detector": ("word", "phrase", "resolved", "driver", "judge", "none"),
    "--backend": ("simulated", "ollama", "openai", "nosuch"),
    "--base-url": ("http://127.0.0.1:9", "nonsense", "http://", "ftp://127.0.0.1", "http://[::1", ""),
    "--timeout": ("0.01", "1", "0", "nan", "inf"),
    "--out": ("out", "out/deeper", "/dev/null", "text.txt", "", "base"),
    "--preset": ("small", "standard", "foreign", "nosuch"),
    "--arm": ("XP=2", "A0=0", "C=x", "nosuch=1", "=", "N0=-1"),
    "--personality": ("label", "number@0.4-silent", "nosuch", "@", "label@2"),
    "--plan": ("plan.json", "text.txt", "nowhere"),
    "--sample": ("1", "5", "0", "-1", "99999999999999999999"),
    "--rollouts": ("1", "2", "0", "-3", "99999999999999999999", "1.5"),
    "--map": ("theirs.toml", "text.txt", "nowhere", "base"),
    "--task-module": ("text.txt", "broken_task.py", "nowhere.py", "."),
    "--prompts": ("prompts", "base", "nowhere", "text.txt"),
    "--data": ("base", "nowhere", "empty"),
    "--notebooks": ("empty", "nowhere"),
}
# What asks for work without end is no fault of the command that does it.
BOUNDED: Final = frozenset({"--iterations", "--runs", "--warmup", "--concurrency", "--n", "--excerpts"})
ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "paths": (
        "base",
        "base/simulated/frozenlake/threetraj",
        "empty",
        "nowhere",
        "text.txt",
        "broken.tar.gz",
        ".",
        "a",
        "",
    ),
    "path": ("base", "base", "empty", "nowhere", "text.txt"),
    "data": ("base", "empty", "nowhere"),
    "env": ("frozenlake", "cartpole", "nosuch"),
    "variant": ("threetraj", "r2po", "nosuch"),
    "run": ("1", "2", "0", "-1", "x", "99999999999999999999"),
    "iteration": ("0", "3", "11", "-1", "x", "99999999999999999999"),
    "rollout": ("0", "2", "3", "-1", "x", "99999999999999999999"),
    "labels": ("labels.csv", "text.txt", "nowhere", "base", "empty.csv"),
    "files": ("theirs.jsonl", "labels.csv", "text.txt", "nowhere", "base"),
    "table": ("labels.csv", "own_table.csv", "text.txt", "nowhere"),
    "plan": ("plan.json", "text.txt", "nowhere", "base"),
    "unit": ("1", "0", "99", "frozenlake/threetraj/1/0", "x"),
    "arguments": (
        "base",
        "select 1",
        "select * from episodes",
        "describe runs",
        "drop table x",
        "select * from 'text.txt'",
    ),
}


def attempt(trial: Trial) -> None:
    """Run some command lines in a folder of odds and ends."""
    room = _room(trial)
    os.chdir(room)
    for _ in range(EACH):
        program, arguments = draw(trial.rng)
        trial.step(f"cd {room} && {typed(program, *arguments)}", 2 * PATIENCE if "figures" in program else PATIENCE)
        ended = call(program, *arguments)
        trial.count()
        check(trial, ended, program, *arguments)


def draw(rng: Random) -> tuple[str, list[str]]:
    """A program and its arguments."""
    program = rng.choices(("audit", "stats", "collect", "figures"), (12, 4, 4, 0.3))[0]
    command = _tree(program)
    arguments: list[str] = []
    while hasattr(command, "commands"):
        name = rng.choice([*command.commands, *command.commands, "nosuch"])
        arguments.append(name)
        if name not in command.commands:
            break
        command = command.commands[name]
    options = [each for each in command.params if each.param_type_name == "option" and each.opts[0].startswith("--")]
    options = [each for each in options if "completion" not in each.opts[0]]
    words: list[list[str]] = []
    if rng.random() < 0.95:
        for each in command.params:
            if each.param_type_name == "argument":
                count = 1 if each.nargs == 1 else rng.choice((1, 1, 1, 2))
                words += [[_one_of(rng, ARGUMENTS.get(each.name, ()))] for _ in range(count)]
    required = [each for each in options if each.required and rng.random() < 0.95]
    for option in [*required, *rng.choices(options, k=rng.randint(0, 4))] if options else []:
        words.append(_option(rng, option))
    if program == "collect":
        words += [["--iterations", str(rng.randint(1, 2))], ["--runs", "1"], ["--rollouts", "2"]]
        if rng.random() < 0.95:
            words.append(["--dry-run"])
    if rng.random() < 0.05:
        words.append([rng.choice(("--nosuch", "-x", "--", rng.choice(WORDS)))])
    if rng.random() < 0.2:
        rng.shuffle(words)
    return program, [word.replace("\0", "") for each in [arguments, *words] for word in each]


def _option(rng: Random, option: Any) -> list[str]:
    name = rng.choice([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return [name]
    values = HINTS.get(name, ())
    if name in BOUNDED:
        return [name, rng.choice(("1", "2", "0", "-1", "x", "", "1.5"))]
    return [name, _one_of(rng, values)] if rng.random() < 0.9 else [f"{name}={_one_of(rng, values)}"]


def _one_of(rng: Random, values: tuple[str, ...]) -> str:
    return rng.choice(values) if values and rng.random() < 0.8 else rng.choice(WORDS)


def _tree(program: str) -> Any:
    import typer.main

    return typer.main.get_command(importlib.import_module(COMMANDS[program]).app)


def _room(trial: Trial) -> Path:
    """A folder with records and with all that is no record."""
    base = readers.base(trial)
    room = trial.folder / "room"
    examples = Path(__file__).parents[2] / "docs" / "examples"
    shutil.copytree(base, room / "base")
    shutil.copy(base.with_name("labels.csv"), room)
    (room / "empty").mkdir()
    (room / "prompts").mkdir()
    (room / "prompts" / "search.j2").write_text("{{ nothing }}")
    (room / "empty.csv").write_text("")
    (room / "broken.tar.gz").write_bytes(b"\x1f\x8b nothing")
    (room / "broken_task.py").write_text("raise RuntimeError('no\x1b[31m')\n")
    (room / "text.txt").write_text("nothing but text\n")
    shutil.copy(examples / "import" / "cartpole.toml", room / "theirs.toml")
    shutil.copy(examples / "import" / "cartpole.jsonl", room / "theirs.jsonl")
    shutil.copy(examples / "own_table.csv", room)
    return room
