"""Odd names of conditions, tasks, methods, models and folders, and odd texts, in every output of every command."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.torture import samples
from benchmarks.torture.readers import COMMANDS
from benchmarks.torture.running import call, check
from benchmarks.torture.trial import Trial, shown_line, typed

PIECES: Final = (
    *(
        "~",
        "$",
        "$x$",
        "$x",
        "\\alpha",
        "\\",
        "\\\\",
        "^",
        "_",
        "{",
        "}",
        "{{x}}",
        "{%x%}",
        "%",
        "%s",
        "#",
        "&",
        "&amp;",
        "<",
        ">",
    ),
    *(
        "<script>alert(1)</script>",
        "'",
        '"',
        "`",
        "|",
        ";",
        ",",
        ":",
        "=1+2",
        "@x",
        "+1",
        "-1",
        "--x",
        "*",
        "?",
        "[a]",
        "[red]x[/red]",
    ),
    *(
        "!",
        "!x",
        "(",
        ")",
        "/",
        "..",
        ".",
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
    ),
    *(
        "\u2028",
        "\u200b",
        "\u202e",
        "\ufeff",
        "\ufffe",
        "ä",
        "好",
        "عربي",
        "é",
        "\U0001f600",
        "\u0301",
        "ß",
        "NaN",
        "null",
        "None",
    ),
    *(
        "1",
        "0",
        "",
        "x" * 200,
        ":smile:",
        "a/b",
        "CON",
        "' or 1=1 --",
        "\\input{x}",
        "javascript:alert(1)",
        "\\n",
        "\\x1b",
        "${HOME}",
    ),
)
# What a name of a folder cannot hold, or not be.
_NO_FOLDER: Final = re.compile(r"[/\x00]")
FORMATS: Final = ("table", "json", "csv", "markdown", "latex")


def attempt(trial: Trial) -> None:
    """Records full of odd names, below a folder of an odd name, through every command and format."""
    rng = trial.rng
    data = trial.folder / (_NO_FOLDER.sub("", odd(rng))[:40].strip(".") or "~")
    given = {name: odd(rng) for name in ("condition", "model", "answer", "origin", "file")}
    given["env"] = "frozenlake" if rng.random() < 0.3 else f"e{odd(rng)}"
    given |= {name: given[name].replace("\x00", "") for name in ("condition", "env")}  # refused there
    for number in range(2):
        _write(rng, data / (_NO_FOLDER.sub("", odd(rng))[:40].strip(".") or "~") / f"run-{number}", given, number + 1)
    for program, template in COMMANDS:
        name = template.split()[0]
        slow = program == "figures" and trial.number % 3
        if slow or name in ("replay", "validate", "verify", "rescore", "anchor", "calibrate", "judge"):
            continue
        arguments = [
            {
                "DIR": str(data),
                "QUERY": "select * from episodes",
                "PACK": str(trial.folder / "x.pack.parquet"),
                "EXPORT": str(trial.folder / "x.jsonl"),
                "VIEW": str(trial.folder / "view"),
            }.get(word, word)
            for word in template.split()
        ]
        if name == "show":
            arguments = [
                "show",
                str(data),
                "--condition=" + given["condition"],
                "--",
                given["env"],
                "threetraj",
                "1",
                "0",
            ]
        output = rng.choice(FORMATS[:2] if name == "show" else FORMATS)
        if name not in ("sample", "pack", "view") and program != "figures":
            arguments.insert(1, f"--format={output}")
        arguments = [str(trial.folder / "page") if word == "PAGE" else word for word in arguments]
        trial.step(typed(program, *arguments), 60.0)
        ended = call(program, *arguments)
        trial.count()
        if check(trial, ended, program, *arguments, shown=data):
            _read_again(trial, program, arguments, output, ended, given, data)
    shutil.rmtree(data, ignore_errors=True)


def odd(rng: Random) -> str:
    """A name made of a few odd pieces."""
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 4)))


def _write(rng: Random, folder: Path, given: dict[str, str], number: int) -> None:
    run = samples.run_json(rng, given["condition"])
    run |= {
        "variant": "threetraj",
        "env": given["env"],
        "run": number,
        "model": given["model"],
        "options": {},
        "rollouts": 3,
    }
    run |= {"seed": 1, "iterations": 100, "optimum": 1.0, "started_at": "2026-01-01T00:00:00Z"}
    run["thresholds"] = {**samples.thresholds(), "origin": given["origin"]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(run))
    records = [samples.episode(rng, run, iteration) for iteration in range(4)]
    while not records[0]["revised"]:  # it is to be shown
        records[0] = samples.episode(rng, run, 0)
    for record in records:
        if record["revised"]:
            record["revised"]["answer"] = f"The worst rollout fell. {given['answer']}"
    (folder / "episodes.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def _read_again(
    trial: Trial, program: str, arguments: list[str], output: str, ended: Any, given: dict[str, str], data: Path
) -> None:
    """Whether an output can be read by what its format is for, and holds the names as they are."""
    name = program if program == "figures" else arguments[0]
    line = shown_line(program, arguments, data)

    def report(kind: str, what: str) -> None:
        trial.fail(f"{name}: {kind}", f"{given!r}\n{what}", line, data)

    if ended.status != 0:
        reason = re.sub(r'".*"|/\S+', "…", ended.err.strip().splitlines()[-1])[:100]
        trial.fail(f"fails on odd names: {reason}", f"{name}: {given!r}\n{ended.err[-600:]}", line, data)
    elif program == "figures":
        _look_at_page(trial.folder / "page" / "index.html", report)
    elif f"--format={output}" not in arguments:
        return
    elif output == "json":
        try:
            rows = json.loads(ended.out)
        except ValueError as error:
            report("JSON that is none", f"{error}\n{ended.out[:300]}")
            return
        conditions = {row["condition"] for row in rows if "condition" in row} if isinstance(rows, list) else set()
        if conditions - {given["condition"]}:
            report("another condition in JSON", repr(conditions))
    elif output == "csv":
        rows = list(csv.reader(io.StringIO(ended.out)))
        if len({len(row) for row in rows}) > 1:
            report("CSV of uneven rows", ended.out[:300])
    elif output == "markdown":
        table = [line for line in ended.out.splitlines() if line.startswith("|")]
        if len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table}) > 1:
            report("Markdown of uneven rows", ended.out[:600])


OWN_SCRIPT = [("src", "tables.js"), ("defer", None)]
"""The page's own script, which sorts its tables."""


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.has_text = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if (tag == "script" and attrs != OWN_SCRIPT) or any(
            name.startswith("on") or (value or "").startswith("javascript:") for name, value in attrs
        ):
            self.wrong.append(f"<{tag} {attrs}>"[:200])

    def handle_data(self, data: str) -> None:
        self.has_text = self.has_text or bool(data.strip())


def _look_at_page(page: Path, report: Any) -> None:
    if not page.exists():
        report("no page", "")
        return
    elements = _Elements()
    text = page.read_text()
    elements.feed(text)
    if elements.wrong:
        report("a page that acts", "\n".join(elements.wrong[:5]))
    if acting := sorted(
        {each for each in text if ord(each) < 32 and each not in "\n\t"} | (set(text) & set("\x7f\x9b\u202e"))
    ):
        report("control characters in a page", repr(acting))
