"""Mutated records, thousands at a time, read in all ways that the audit has, and compared with the strict reading."""

from __future__ import annotations

import functools
import json
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from benchmarks.torture import oracle
from benchmarks.torture.campaign import Trial, where
from benchmarks.torture.drawing import line_of, mutated, sound_line, sound_run
from benchmarks.torture.oracle import Record, Verdict

LINES, RUN_LINES = 2500, 100
"""Lines of an example at most, and of a run."""
SEEDS: Final = st.integers(0, 2**32 - 1)
Faults = Iterator[tuple[str, str]]
Accepted = dict[str, dict[int, Record]]
Named = dict[str, dict[int | None, list[str]]]


def records(trial: Trial, draw: Callable[..., Any]) -> None:
    """Read some of the lines that a seed stands for, and compare.

    Their number is drawn before the first of them: where one fails, Hypothesis then finds it alone.
    """
    count, first, seed = draw(st.integers(1, LINES)), draw(st.integers(0, LINES)), draw(SEEDS)
    root = trial.folder / "data"
    _write(root / "sound", *_run(Random(0), "sound", 1))  # no command reads a data set without any
    for number in range(first // RUN_LINES, (first + count - 1) // RUN_LINES + 1):
        run, lines = _run(Random(f"{seed}/{number}"), f"run-{number}", RUN_LINES)
        start = number * RUN_LINES
        _write(root / f"run-{number:03}", run, lines[max(0, first - start) : first + count - start])
    trial.count(count)
    trial.check(faults(root), f"audit revisions {root}", root)


def _run(rng: Random, name: str, count: int) -> tuple[bytes, list[bytes]]:
    """A run's `run.json` and its lines: one of the two with mutations."""
    run = sound_run(rng, name)
    if name == "sound" or rng.random() < 0.1:
        line = line_of(sound_line(rng, run, 0)) + b"\n"
        return (line_of(run) if name == "sound" else mutated(rng, run)[0]), [line]
    lines = [_line(rng, run, iteration) for iteration in range(count)]
    return json.dumps(run, indent=rng.choice((None, 2))).encode(), [*lines[:-1], lines[-1][: rng.choice((-1, None))]]


def _line(rng: Random, run: Record, iteration: int) -> bytes:
    record, kind = sound_line(rng, run, iteration), rng.random()
    if kind < 1e-4:
        record["initial"]["answer"] = "x" * (oracle.LONGEST + rng.choice((-(10**5), 10**5)))
    if kind < 0.03:
        return line_of(record) + rng.choice((b"\n", b"\r\n"))
    if kind < 0.05:
        return rng.choice((b"\n", b" \t\r\n", b"\x0c\n", b"\xef\xbb\xbf\n", b"\x00\n", b"\xc2\xa0\n"))
    return mutated(rng, record)[0] + b"\n"


def _write(folder: Path, run: bytes, lines: list[bytes]) -> None:
    folder.mkdir(parents=True)
    (folder / "run.json").write_bytes(run)
    (folder / "episodes.jsonl").write_bytes(b"".join(lines))


def faults(root: Path) -> Faults:
    """Where a way to read the runs below a folder differs from the strict reading."""
    for way, read in READERS.items():
        try:
            accepted, named = read(root)
        except Exception as error:
            yield f"{way}: {where(error)}", traceback.format_exc(limit=-4)
            continue
        for file in sorted(root.rglob("episodes.jsonl")) if list(named) != [""] else ():  # all is named in one message
            messages, about_run = named.get(str(file), {}), named.get(str(file.with_name("run.json")), {})
            for kind, what in _of_file(way, file, accepted.get(str(file), {}), messages, [*about_run.values()]):
                yield f"{way}: {kind}", f"{file}: {what}"


def by_relations(root: Path) -> tuple[Accepted, Named]:
    """What the relations hold, by file and iteration, and what was named, by file and line."""
    from audit.output.errors import AuditError
    from audit.store import open_store, rows_of

    accepted: Accepted = {}
    try:
        with open_store([root], cache=False) as store:
            for row in rows_of(store.relation("episodes")):
                accepted.setdefault(row["file"], {})[row["iteration"]] = row
            return accepted, _by_place(store.problems)
    except AuditError as error:
        return _refused_as_a_whole(error)


def by_lines(root: Path, *, judged: bool) -> tuple[Accepted, Named]:
    """The same from the reader of the commands that run policies again; of its records only that they are there."""
    from audit.ingest.runs import open_records
    from audit.output.errors import AuditError

    accepted: Accepted = {}
    try:
        with open_records([root], judged=judged, cache=False) as found:
            for run in found.runs:
                accepted[run.files[0].label] = {each.iteration: {} for each in found.iterations(run)}
            return accepted, _by_place(found.problems)
    except AuditError as error:
        return _refused_as_a_whole(error)


def _by_place(problems: list[Any]) -> Named:
    named: Named = {}
    for problem in problems:
        named.setdefault(problem.file, {}).setdefault(problem.line, []).append(problem.message)
    return named


def _refused_as_a_whole(error: Exception) -> tuple[Accepted, Named]:
    if "no finished iteration" not in str(error):
        raise error
    return {}, {"": {None: [str(error)]}}


READERS: Final[dict[str, Callable[[Path], tuple[Accepted, Named]]]] = {
    "relations": by_relations,
    "lines": functools.partial(by_lines, judged=True),
    "verify": functools.partial(by_lines, judged=False),
}


def _of_file(
    way: str, file: Path, rows: dict[int, Record], named: dict[int | None, list[str]], run: list[Any]
) -> Faults:
    of_run = oracle.read_run(file.with_name("run.json").read_bytes())
    if None in named:
        yield named[None][0], ""
    elif of_run.accepted and not run:
        yield from _of_lines(way, file.read_bytes().split(b"\n"), of_run.record or {}, rows, named)
    elif of_run.accepted:
        yield f"sound run.json refused: {_plain(run[0][0])}", run[0][0]
    elif rows and not of_run.is_open:
        yield f"run.json accepted, though {of_run.field or 'it'} {of_run.why}", ""
    elif not run and not of_run.is_open:
        yield "run.json left out, and not named", f"{of_run.field} {of_run.why}"


def _of_lines(
    way: str, lines: list[bytes], run: Record, rows: dict[int, Record], named: dict[int | None, list[str]]
) -> Faults:
    earlier: set[int] = set()
    verdicts = [oracle.read_line(line, run, earlier) if line.strip(b" \t\r\n") else None for line in lines]
    is_open = [each and (each.is_open or (way == "verify" and each.is_contradiction)) for each in verdicts]
    # Where it is open whether an earlier line counts, it is as well whether a later one of the same iteration does.
    disputed = {number for line, either in zip(lines, is_open, strict=True) if either for number in _iterations(line)}
    for number, (line, verdict, either) in enumerate(zip(lines, verdicts, is_open, strict=True), start=1):
        messages = named.get(number, [])
        if len(messages) > 1:
            yield "named twice", " / ".join(messages)
        if verdict is None and messages:
            yield "a blank line is named", messages[0]
        if verdict is None or either or (verdict.record and verdict.record["iteration"] in disputed):
            continue
        for kind, what in _of_line(line, verdict, messages, rows, earlier):
            yield kind, f"line {number}: {what}\n{line[:300]!r}"
    if extra := set(rows) - earlier - {number for line in lines for number in _iterations(line)}:
        yield "iterations out of nowhere", f"{sorted(extra)[:5]}"
    if unplaced := [number for number in named if number is not None and number > len(lines)]:
        yield "lines named that are not there", f"{unplaced[:5]}"


def _of_line(line: bytes, verdict: Verdict, messages: list[str], rows: dict[int, Record], expected: set[int]) -> Faults:
    if verdict.record is not None:
        row = rows.get(verdict.record["iteration"])
        if messages:
            yield f"a sound line is refused: {_plain(messages[0])}", messages[0]
        elif row is None:
            yield "a sound line is not there, and not named", ""
        elif row:
            yield from _differences(verdict.record, row)
    elif not messages:
        is_there = any(each in rows and each not in expected for each in _iterations(line))
        reason = f"{_plain(verdict.field)} {_plain(verdict.why)}".strip()
        yield f"{'accepted' if is_there else 'left out, and not named'}, though {reason}", verdict.field
    elif verdict.field and not _names_a_field(messages[0], verdict.field):
        yield f"{_plain(verdict.field)} is not named, which {_plain(verdict.why)}", messages[0]


def _names_a_field(message: str, field: str) -> bool:
    """Whether a message names the field at fault, or, as there may be several, another one."""
    others = {"not JSON", "torn", "is given twice", "example_ids", *oracle.OF_PARAMS["episode"]}
    return any(name.rstrip("?") in message for name in {field.rpartition(".")[2], *others})


def _iterations(line: bytes) -> set[int]:
    """The iterations that a lenient reader may see in a line."""
    numbers = re.findall(rb'"(?:i|\\u0069)teration"\s*:\s*"?(-?\d{1,19})(?:\.(\d))?', line)
    return {int(whole) + (tenths >= b"5") for whole, tenths in numbers}


def _differences(record: Record, row: Record) -> Faults:
    evidence = record.get("evidence")
    wanted = {
        "initial": _candidate(record["initial"]),
        "revised": _candidate(record.get("revised")),
        "revision_status": record["revision_status"],
        "selected": record["selected"],
        "shown": None if evidence is None else [_known(each, "shown") for each in evidence.get("shown", ())],
        "statistics": evidence and evidence.get("statistics") and _doubles(evidence["statistics"]),
    }
    if evidence is not None:
        wanted["evidence_kind"] = evidence["kind"]
    if record.get("tau_c") is not None:
        wanted["tau_c"] = float(record["tau_c"])
    found = {**row, "initial": _candidate(row["initial"]), "revised": _candidate(row["revised"])}
    for name, value in wanted.items():
        if value != found[name]:
            yield f"{name} has another value", f"{value!r}\n{found[name]!r}"


def _known(value: Record, name: str) -> Record:
    fields = [field.rstrip("?") for field in oracle.OF_IMPORTS[name]]
    return {field: _doubles(value.get(field), field) for field in fields}


def _candidate(value: Record | None) -> Record | None:
    """A candidate's fields, its text with the components in their order."""
    if value is None:
        return None
    text = value.get("text")
    pairs = list((json.loads(text) if isinstance(text, str) else text).items()) if text is not None else None
    return _known(value, "candidate") | {"text": pairs}


def _doubles(value: Any, name: str = "") -> Any:
    """A value with numbers as doubles where doubles are kept."""
    if isinstance(value, dict):
        return {inner: _doubles(each, inner) for inner, each in value.items()}
    if name in ("params", "returns", "mean_return", "return", "mean", "min", "max") and value is not None:
        return [float(each) for each in value] if isinstance(value, list) else float(value)
    return value


def _plain(text: str) -> str:
    """A message or field without what differs from record to record."""
    text = re.sub(r"^(initial|revised)\b", "candidate", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|-?\d[\d.e+-]*|run-\d+", "…", text)
    return re.sub(r"\(.*\)", "(…)", text)[:120]
