"""Random command lines: options of every command with values that fit them or not, run in this process."""

from __future__ import annotations

import importlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from benchmarks.torture.campaign import Trial
from benchmarks.torture.commands import EXAMPLES, PROGRAMS, tried
from benchmarks.torture.reading import base

WORDS: Final = """
    - -- -1 0 1 2 3 1.5 -0.5 0.05 1e3 nan inf -inf 1e999 0x10 １ 9223372036854775808 -99999999999999999999 1e-400 None
    null true all [] {} a=b frozenlake cartpole nosuch threetraj r2po props simulated ollama openai word driver judge
    table json csv markdown latex ~ . .. a/b /dev/null data base labels.csv nowhere/at/all ä $x$ ' " ` %s {0} * empty
    broken.tar.gz text.txt theirs.toml theirs.jsonl x.pack.parquet empty.csv own_table.csv broken_task.py prompts out
    out/deeper plan.json mean_return regressions_pct std cartpole.high=460 cartpole.high=nan cartpole.nosuch=1 XP=2
    N0=-1 frozenlake.high=0.1,0.5 frozenlake/threetraj/1/0 number@0.4-silent label@2 http://127.0.0.1:9 http://[::1
    """.split()  # noqa: SIM905 - as many quotes again would be no easier to read
PHRASES: Final = (
    "",
    " ",
    "a\nb",
    "\x1b[31m",
    "select 1",
    "select * from episodes",
    "delta > 0",
    "x'; drop table y",
    "a" * 300,
)
# Where most words do not fit; others have choices of their own, or state some in their help.
HINTS: Final = {
    **dict.fromkeys(
        ("paths", "path", "data", "arguments", "--data"), "base base base/simulated/frozenlake/threetraj empty"
    ),
    **dict.fromkeys(("env", "--env"), "frozenlake cartpole"),
    **dict.fromkeys(("variant", "--variant"), "threetraj r2po"),
    **dict.fromkeys(("run", "iteration", "rollout", "unit"), "0 1 2"),
    **dict.fromkeys(("labels", "files", "table"), "labels.csv theirs.jsonl own_table.csv"),
    **dict.fromkeys(("--out", "--map", "--prompts"), "out out/deeper text.txt theirs.toml prompts"),
    **dict.fromkeys(("--base-url", "--timeout"), "http://127.0.0.1:9 0.01 1"),
}
# What asks for work without end is no fault of the command that does it.
BOUNDED: Final = dict.fromkeys(
    ("--iterations", "--runs", "--warmup", "--concurrency", "--n", "--excerpts"), "1 2 0 -1 x 1.5"
)
ODD_WORDS: Final = (
    st.sampled_from([*WORDS, *PHRASES]) | st.text(max_size=4) | st.integers().map(str) | st.floats().map(str)
)


def lines(trial: Trial, draw: Callable[..., Any]) -> None:
    """Run a command line, with values that fit its options or not, in a folder of odds and ends."""
    room = trial.folder / "room"
    shutil.copytree(base(trial), room / "base")
    for name in ("empty", "prompts"):
        (room / name).mkdir()
    (room / "broken.tar.gz").write_bytes(b"\x1f\x8b nothing")
    texts = {
        "prompts/search.j2": "{{ nothing }}",
        "empty.csv": "",
        "broken_task.py": "raise RuntimeError('no\x1b[31m')\n",
    }
    for name, text in {**texts, "text.txt": "nothing but text\n"}.items():
        (room / name).write_text(text)
    for place in (trial.room / "labels.csv", EXAMPLES / "own_table.csv"):
        shutil.copy(place, room)
    for suffix in ("toml", "jsonl"):
        shutil.copy(EXAMPLES / "import" / f"cartpole.{suffix}", room / f"theirs.{suffix}")
    program, arguments = _command_line(draw)
    kept = Path.cwd()
    os.chdir(room)
    try:
        tried(trial, program, arguments)
    finally:
        os.chdir(kept)


def _command_line(draw: Callable[..., Any]) -> tuple[str, list[str]]:
    import typer.main

    program = draw(st.sampled_from(["audit"] * 24 + ["stats"] * 8 + ["collect"] * 8 + ["figures"]))
    command: Any = typer.main.get_command(importlib.import_module(PROGRAMS[program]).app)
    arguments: list[str] = []
    while hasattr(command, "commands"):
        arguments.append(draw(st.sampled_from([*command.commands, *command.commands, "nosuch"])))
        if arguments[-1] not in command.commands:
            break
        command = command.commands[arguments[-1]]
    options = [each for each in command.params if each.opts[0].startswith("--") and "completion" not in each.opts[0]]
    words = []
    for each in command.params:
        if each.param_type_name == "argument" and draw(st.integers(0, 19)):
            words += [
                [_word(draw, each.name, each)]
                for _ in range(1 if each.nargs == 1 else draw(st.sampled_from((1, 1, 2))))
            ]
    required = [each for each in options if each.required and draw(st.integers(0, 19))]
    for option in [*required, *(draw(st.lists(st.sampled_from(options), max_size=4)) if options else ())]:
        name = draw(st.sampled_from([*option.opts, *option.secondary_opts]))
        words.append([name] if option.is_flag else [name, _word(draw, name, option)])
    if program == "collect":
        words += [
            ["--iterations", "2"],
            ["--runs", "1"],
            ["--rollouts", "2"],
            ["--dry-run"] * min(1, draw(st.integers(0, 19))),
        ]
    if not draw(st.integers(0, 19)):
        words.append([draw(st.sampled_from(("--nosuch", "-x", "--")) | ODD_WORDS)])
    if not draw(st.integers(0, 4)):
        words = draw(st.permutations(words))
    return program, [
        word.replace("\0", "").encode("utf-8", "replace").decode() for each in [arguments, *words] for word in each
    ]


def _word(draw: Callable[..., Any], name: str, parameter: Any) -> str:
    """A value: one that fits, most often, or a word of its help."""
    if name in BOUNDED:
        return draw(st.sampled_from(BOUNDED[name].split()))
    fitting = HINTS.get(name, "").split() or list(getattr(getattr(parameter, "type", None), "choices", ()))
    fitting = fitting or re.findall(r"[\w@=.-]+", getattr(parameter, "help", None) or "")
    return draw(st.sampled_from(fitting)) if fitting and draw(st.integers(0, 3)) else draw(ODD_WORDS)
