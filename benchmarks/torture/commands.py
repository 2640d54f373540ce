"""The project's commands, run in this process: on mutated records, with random command lines, and on odd names."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from benchmarks.torture import oracle
from benchmarks.torture.campaign import PATIENCE, Trial, environment, where
from benchmarks.torture.drawing import line_of, mutated, sound_line, sound_run
from benchmarks.torture.records import SEEDS

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


# Mutated records -----------------------------------------------------------------------------------------------------

READING: Final[dict[str, tuple[str, ...]]] = {
    "audit": (
        *"summary controls agreement patterns runs mentions topics positions sensitivity obedience check".split(),
        *("find --case salience", "obedience --bins", "rescore --rollouts 2", "anchor --controls 19 --sample 2"),
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


def _command_lines(trial: Trial, data: Path, **words: object) -> Iterator[tuple[str, list[str]]]:
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
    for program, arguments in _command_lines(trial, data, **words):
        if arguments[0] in ("show", "replay") and not earlier:
            continue
        ended = tried(trial, program, arguments, data)
        if ended.status == 2:
            raise RuntimeError(f"{program} {arguments}: {ended.err}")
        named = {int(number) for number in re.findall(r"run-01/episodes\.jsonl:(\d+)\b", ended.err)}
        line = shlex.join([program, *arguments])
        if first is None:
            first = named
            trial.check(
                (
                    f"{'not left out, though' if number in wrong else 'a sound line is left out'} {verdict.field} {verdict.why}",
                    line,
                )
                for number, verdict in verdicts.items()
                if number not in either and (number in named) != (number in wrong)
            )
        # Those that report contradictory numbers may keep such lines, and report them in another way.
        elif differing := (named ^ first) - contradict:
            name = program if program == "figures" else arguments[0]
            trial.fail(
                f"{name} leaves out other lines than audit summary", f"{differing}\n{ended.err[:600]}", line, data
            )


# Command lines -------------------------------------------------------------------------------------------------------

WORDS: Final = [
    *(" ", "a\nb", "\x1b[31m", "select 1", "select * from episodes", "delta > 0", "x'; drop table y", "a" * 300, ""),
    *"- -- -1 0 1 2 3 1.5 -0.5 0.05 1e3 nan inf -inf 1e999 0x10 １ 9223372036854775808 -99999999999999999999 1e-400".split(),
    *"None null true all [] {} a=b frozenlake cartpole nosuch threetraj r2po simulated word driver judge table json".split(),
    *"csv markdown latex ~ . .. /dev/null data base labels.csv nowhere/at/all ä $x$ ' \" ` cartpole.high=460 %s".split(),
    *"cartpole.high=nan cartpole.nosuch=1 frozenlake.high=0.1,0.5 {0} * empty broken.tar.gz text.txt theirs.toml".split(),
    *"theirs.jsonl x.pack.parquet mean_return regressions_pct std".split(),
]
HINTS: Final = {
    name: values.split()
    for name, _, values in (
        line.strip().partition(" ")
        for line in """
        --env frozenlake cartpole nosuch all
        --variant threetraj r2po props nosuch
        --condition simulated nosuch a/b .. $x$
        --format table json csv markdown latex xml
        --detector word phrase resolved driver judge none
        --backend simulated ollama openai nosuch
        --base-url http://127.0.0.1:9 nonsense http:// ftp://127.0.0.1 http://[::1
        --timeout 0.01 1 0 nan inf
        --out out out/deeper /dev/null text.txt base
        --preset small standard foreign nosuch
        --arm XP=2 A0=0 C=x nosuch=1 = N0=-1
        --personality label number@0.4-silent nosuch @ label@2
        --plan plan.json text.txt nowhere
        --sample 1 5 0 -1 99999999999999999999
        --rollouts 1 2 0 -3 99999999999999999999 1.5
        --map theirs.toml text.txt nowhere base
        --task-module text.txt broken_task.py nowhere.py .
        --prompts prompts base nowhere text.txt
        --data base nowhere empty
        --notebooks empty nowhere
        paths base base/simulated/frozenlake/threetraj empty nowhere text.txt broken.tar.gz . a
        path base base empty nowhere text.txt
        data base empty nowhere
        env frozenlake cartpole nosuch
        variant threetraj r2po nosuch
        run 1 2 0 -1 x 99999999999999999999
        iteration 0 3 11 -1 x 99999999999999999999
        rollout 0 2 3 -1 x 99999999999999999999
        labels labels.csv text.txt nowhere base empty.csv
        files theirs.jsonl labels.csv text.txt nowhere base
        table labels.csv own_table.csv text.txt nowhere
        plan plan.json text.txt nowhere base
        unit 1 0 99 frozenlake/threetraj/1/0 x
        arguments base runs
        """.strip().splitlines()
    )
}
"""Values that fit options and arguments, or nearly."""
# What asks for work without end is no fault of the command that does it.
BOUNDED: Final = dict.fromkeys(
    ("--iterations", "--runs", "--warmup", "--concurrency", "--n", "--excerpts"), "1 2 0 -1 x 1.5"
)
ODD_WORDS: Final = st.sampled_from(WORDS) | st.text(max_size=4) | st.integers().map(str) | st.floats().map(str)


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
                [_word(draw, each.name)] for _ in range(1 if each.nargs == 1 else draw(st.sampled_from((1, 1, 2))))
            ]
    required = [each for each in options if each.required and draw(st.integers(0, 19))]
    for option in [*required, *(draw(st.lists(st.sampled_from(options), max_size=4)) if options else ())]:
        name = draw(st.sampled_from([*option.opts, *option.secondary_opts]))
        words.append([name] if option.is_flag else [name, _word(draw, name)])
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


def _word(draw: Callable[..., Any], name: str) -> str:
    if name in BOUNDED:
        return draw(st.sampled_from(BOUNDED[name].split()))
    return draw(st.sampled_from(HINTS[name])) if name in HINTS and draw(st.integers(0, 4)) else draw(ODD_WORDS)


# Names ---------------------------------------------------------------------------------------------------------------

PIECES: Final = [
    *"~ $ $x$ $x \\alpha \\ \\\\ ^ _ { } {{x}} {%x%} % %s # & &amp; < > <script>alert(1)</script> ' \" ` | ; , :".split(),
    *"=1+2 @x +1 -1 --x * ? [a] [red]x[/red] ! !x ( ) / .. . ä 好 عربي é \u0301 ß NaN null None 1 0 :smile: a/b".split(),
    *"CON \\input{x} javascript:alert(1) \\n \\x1b ${HOME} \U0001f600 \u200b \u202e \ufeff \ufffe".split(),
    *(
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
    ),
    *("\u2028", "", "x" * 200),
]
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
    for index, (program, arguments) in enumerate(_command_lines(trial, data, QUERY="select * from episodes")):
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
