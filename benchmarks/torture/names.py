"""Odd names of conditions, tasks, methods, models and folders, and odd texts, in every output of every command."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from benchmarks.torture.campaign import Trial
from benchmarks.torture.commands import Ended, Faults, tried
from benchmarks.torture.drawing import line_of, sound_line, sound_run
from benchmarks.torture.reading import command_lines

PIECES: Final = """
    ~ $ $x$ $x \\alpha \\ \\\\ ^ _ { } {{x}} {%x%} % %s # & &amp; < > <script>alert(1)</script> ' " ` | ; , : =1+2
    @x +1 -1 --x * ? [a] [red]x[/red] ! !x ( ) / .. . ä 好 عربي é \u0301 ß NaN
    null None 1 0 :smile: a/b CON \\input{x} \\n \\x1b
    javascript:alert(1) ${HOME} \U0001f600 \u200b \u202e \ufeff \ufffe
    """.split()  # noqa: SIM905 - as many quotes again would be no easier to read
PIECES += [
    "' or 1=1 --",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\x00",
    "\x07",
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\x7f",
    "\x85",
    "\x9b2J",
]
PIECES += ["\u2028", "", "x" * 200]
ODD: Final = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), min_size=1, max_size=4).map("".join)
FORMATS: Final = ("table", "json", "csv", "markdown", "latex")
NOT_ON_NAMES: Final = ("replay", "validate", "verify", "rescore", "anchor", "calibrate", "judge")


def names(trial: Trial, draw: Callable[..., Any]) -> None:
    """Write records full of odd names below a folder of an odd name, and put them through every command and format."""
    given = {name: draw(ODD) for name in ("condition", "env", "model", "origin", "answer", "file")}
    given |= {"condition": given["condition"].replace("\0", ""), "env": given["env"].replace("\0", "") or "e"}
    folder = re.sub(r"[/\x00]", "", given["file"])[:40].strip(".") or "~"
    data = trial.folder / folder
    for number in (1, 2):
        _write_named(data / folder / f"run-{number}", given, number)
    formats = draw(st.permutations(FORMATS))
    for index, (program, arguments) in enumerate(command_lines(trial, data, QUERY="select * from episodes")):
        name, line = arguments[0], arguments
        if name in NOT_ON_NAMES:
            continue
        if name == "show":
            line = ["show", str(data), f"--condition={given['condition']}", "--", given["env"], "threetraj", "1", "0"]
        allowed = FORMATS[:2] if name == "show" else () if name in ("sample", "pack", "view", "export") else FORMATS
        output = next((each for each in formats[index % 5 :] + formats if each in allowed and program != "figures"), "")
        if output:
            line = [line[0], f"--format={output}", *line[1:]]
        ended = tried(trial, program, line, data)
        found = _misread(output, ended, given, trial.folder / "page" / "index.html" if program == "figures" else None)
        trial.check(
            ((f"{program if program == 'figures' else name}: {kind}", f"{given!r}\n{what}") for kind, what in found),
            shlex.join([program, *line]),
            data,
        )


def _write_named(folder: Path, given: dict[str, str], number: int) -> None:
    rng = Random(number)
    run = sound_run(rng, given["condition"])
    run |= {"schema": 1, "candidates": "params", "variant": "threetraj", "env": given["env"], "run": number}
    run |= {
        "model": given["model"],
        "options": {},
        "rollouts": 3,
        "seed": 1,
        "iterations": 100,
        "optimum": 1.0,
        "method": None,
    }
    run |= {
        "started_at": "2026-01-01T00:00:00Z",
        "thresholds": {"origin": given["origin"], "floor": 0.0}
        | dict.fromkeys(
            ("partial", "high", "near_zero", "meaningful", "surgical_max", "redesign_min", "multi_state_min"), 3
        ),
    }
    records = [sound_line(rng, run, iteration) for iteration in range(4)]
    for record in records:
        if record["revised"]:
            record["revised"]["answer"] = f"The worst rollout fell. {given['answer']}"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "episodes.jsonl").write_bytes(b"".join(line_of(record) + b"\n" for record in records))


def _misread(output: str, ended: Ended, given: dict[str, str], page: Path | None) -> Faults:
    """Whether an output can be read by what its format is for, and holds the names as they are."""
    if ended.status != 0:
        yield "fails on odd names", ended.err[-600:]
    elif page is not None:
        yield from _acting(page.read_text())
    elif output == "json":
        try:
            rows = json.loads(ended.out)
        except ValueError as error:
            yield "JSON that is none", f"{error}\n{ended.out[:300]}"
            return
        held = {row["condition"] for row in rows if "condition" in row} if isinstance(rows, list) else set()
        if held - {given["condition"]}:
            yield "another condition in JSON", repr(held)
    elif output == "csv":
        if len({len(row) for row in csv.reader(io.StringIO(ended.out))}) > 1:
            yield "CSV of uneven rows", ended.out[:300]
    elif output == "markdown":
        table = [line for line in ended.out.splitlines() if line.startswith("|")]
        if len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table}) > 1:
            yield "Markdown of uneven rows", ended.out[:600]


def _acting(page: str) -> Faults:
    """What of a page does something, its own script that sorts tables left out."""
    found: list[str] = []

    class Elements(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            is_own = attrs == [("src", "tables.js"), ("defer", None)]
            acts = any(name.startswith("on") or (value or "").startswith("javascript:") for name, value in attrs)
            if acts or (tag == "script" and not is_own):
                found.append(f"<{tag} {attrs}>"[:200])

    Elements().feed(page)
    if found:
        yield "a page that acts", "\n".join(found[:5])
    if acting := sorted({each for each in page if ord(each) < 32} - {"\n", "\t"} | (set(page) & set("\x7f\x9b\u202e"))):
        yield "control characters in a page", repr(acting)
