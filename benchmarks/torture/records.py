"""Mutated records, thousands at a time, read in all ways that the audit has, and compared with the strict reading."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import shutil
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.torture import oracle, samples
from benchmarks.torture.mutations import mutate
from benchmarks.torture.trial import Trial, shown_line

Record = dict[str, Any]

RUNS: Final = 50
LINES: Final = 100
_SPOILED_RUNS: Final = 0.1
_LONG_LINES: Final = 1e-4
_ROUNDS: Final = 12


@dataclass(frozen=True, slots=True)
class Line:
    """A line, its break included, and what was done to it."""

    data: bytes
    done: str


@dataclass(frozen=True, slots=True)
class Case:
    """A run folder that is to be written."""

    name: str
    run: bytes
    done: str
    lines: tuple[Line, ...]

    def write(self, root: Path) -> Path:
        """Write it below a folder; returns the file of lines."""
        folder = root / self.name
        folder.mkdir(parents=True)
        (folder / "run.json").write_bytes(self.run)
        (folder / "episodes.jsonl").write_bytes(b"".join(line.data for line in self.lines))
        return folder / "episodes.jsonl"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A disagreement; `line` counts from 0 among the lines of `case`, None for its `run.json` or as a whole."""

    kind: str
    case: int
    line: int | None
    what: str


def attempt(trial: Trial) -> None:
    """Make a batch, read it, and report each kind of disagreement with one record that shows it."""
    cases = [draw_case(trial.rng, f"run-{index:03d}") for index in range(RUNS)]
    for _ in range(_ROUNDS):
        trial.step(trial.again, 120.0)
        found = examine(cases, trial.folder / "batch")
        stopped = next((wrong for wrong in found if wrong.case < 0), None)
        if stopped is None:
            break
        # One record ended the reading of all: find it, report it, and continue without it.
        culprit = _culprit(trial, cases, stopped.kind)
        if culprit is None:
            trial.fail(stopped.kind, stopped.what)
            return
        index, number = culprit
        _report(trial, cases, replace(stopped, case=index, line=number))
        cases[index] = _without(cases[index], number)
    for wrong in found:
        _report(trial, cases, wrong)
    trial.count(sum(len(case.lines) + (case.done != "") for case in cases))


def draw_case(rng: Random, name: str, lines: int = LINES) -> Case:
    """A run of mutated lines, or, now and then, of sound lines below a mutated `run.json`."""
    run = samples.run_json(rng, name)
    if rng.random() < _SPOILED_RUNS:
        data, done = mutate(rng, run)
        sound = (Line(samples.line_of(samples.episode(rng, run, number)) + b"\n", "") for number in range(3))
        return Case(name, data, done, tuple(sound))
    drawn = tuple(_draw_line(rng, run, number) for number in range(lines))
    if rng.random() < 0.1:
        drawn = (*drawn[:-1], Line(drawn[-1].data.rstrip(b"\n"), drawn[-1].done))
    return Case(name, json.dumps(run, indent=rng.choice((None, 2))).encode(), "", drawn)


def _draw_line(rng: Random, run: Record, iteration: int) -> Line:
    record = samples.episode(rng, run, iteration)
    kind = rng.random()
    if kind < 0.03:
        return Line(samples.line_of(record) + rng.choice((b"\n", b"\r\n")), "")
    if kind < 0.03 + _LONG_LINES:
        record["initial"]["answer"] = "x" * (oracle.LONGEST + rng.choice((-(10**5), 10**5)))
        return Line(samples.line_of(record) + b"\n", "very long")
    if kind < 0.05:
        return Line(
            rng.choice((b"\n", b" \t\r\n", b"\x0c\n", b"\xef\xbb\xbf\n", b"\x00\n", b"\xc2\xa0\n")), "nothing but space"
        )
    data, done = mutate(rng, record)
    return Line(data + b"\n", done)


def examine(cases: Sequence[Case], root: Path) -> list[Wrong]:
    """Write cases, read them in both ways, and list disagreements; one of no case if a reading ended in an error."""
    shutil.rmtree(root, ignore_errors=True)
    files = [case.write(root) for case in cases]
    wanted = [_judge(case) for case in cases]
    found: list[Wrong] = []
    for way, read in READERS.items():
        try:
            accepted, named = read(root)
        except Exception as error:
            return [Wrong(f"{way}: {_error(error)}", -1, None, traceback.format_exc(limit=-4))]
        for index, file in enumerate(files):
            found += _compare(way, index, wanted[index], file, accepted, named)
    return found


def _error(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, {last.name}"


Wanted = tuple[oracle.Verdict, list[tuple[int, bytes, oracle.Verdict | None]]]


def _judge(case: Case) -> Wanted:
    """The verdicts on the `run.json` and on each line, as line breaks make them; None for blank ones."""
    of_run = oracle.read_run(case.run)
    verdicts: list[tuple[int, bytes, oracle.Verdict | None]] = []
    if of_run.accepted and of_run.record is not None:
        earlier: set[int] = set()
        for number, line in enumerate(b"".join(each.data for each in case.lines).split(b"\n"), start=1):
            verdict = None if oracle.is_blank(line) else oracle.read_line(line, of_run.record, earlier)
            verdicts.append((number, line, verdict))
    return of_run, verdicts


Accepted = dict[str, dict[int, Record]]
Named = dict[str, dict[int | None, list[str]]]


def by_relations(root: Path) -> tuple[Accepted, Named]:
    """What the relations hold, by file and iteration, and what was named, by file and line."""
    from audit.output.errors import AuditError
    from audit.store import open_store, rows_of

    named: Named = {}
    accepted: Accepted = {}
    try:
        with open_store([root], cache=False) as store:
            for row in rows_of(store.relation("episodes")):
                accepted.setdefault(row["file"], {})[row["iteration"]] = row
            problems = store.problems
    except AuditError as error:
        if "no finished iteration" not in str(error):
            raise
        return {}, {"": {None: [str(error)]}}
    for problem in problems:
        named.setdefault(problem.file, {}).setdefault(problem.line, []).append(problem.message)
    return accepted, named


def by_lines(root: Path, *, judged: bool) -> tuple[Accepted, Named]:
    """The same from the reader of the commands that run policies again; of its records only that they are there."""
    from audit.ingest.runs import open_records
    from audit.output.errors import AuditError

    named: Named = {}
    accepted: Accepted = {}
    with contextlib.ExitStack() as resources:
        try:
            records = resources.enter_context(open_records([root], judged=judged, cache=False))
        except AuditError as error:
            if "no finished iteration" not in str(error):
                raise
            return {}, {"": {None: [str(error)]}}
        for run in records.runs:
            try:
                for iteration in records.iterations(run):
                    accepted.setdefault(run.files[0].label, {})[iteration.iteration] = {}
            except Exception as error:
                named.setdefault(run.files[0].label, {})[None] = [_error(error)]
        for problem in records.problems:
            named.setdefault(problem.file, {}).setdefault(problem.line, []).append(problem.message)
    return accepted, named


READERS: Final[dict[str, Callable[[Path], tuple[Accepted, Named]]]] = {
    "relations": by_relations,
    "lines": functools.partial(by_lines, judged=True),
    "verify": functools.partial(by_lines, judged=False),
}


def _compare(way: str, index: int, wanted: Wanted, file: Path, accepted: Accepted, named: Named) -> Iterator[Wrong]:
    of_run, verdicts = wanted
    rows, messages_by_line = accepted.get(str(file), {}), named.get(str(file), {})
    about_run = named.get(str(file.with_name("run.json")), {})
    if list(named) == [""]:  # everything was refused, and is named in one message that has no room for all
        return
    if None in messages_by_line:
        yield Wrong(f"{way}: {messages_by_line[None][0]}", index, None, "")
        return
    if of_run.is_open:
        return
    if not of_run.accepted:
        if rows:
            yield Wrong(f"{way}: run.json accepted, though {of_run.field or 'it'} {of_run.why}", index, None, "")
        elif not about_run:
            yield Wrong(f"{way}: run.json left out, and not named", index, None, f"{of_run.field} {of_run.why}")
        return
    if about_run:
        message = next(iter(about_run.values()))[0]
        yield Wrong(f"{way}: sound run.json refused: {_plain(message)}", index, None, message)
        return
    expected = {
        verdict.record["iteration"] for _, _, verdict in verdicts if verdict and verdict.accepted and verdict.record
    }
    # Where it is open whether an earlier line counts, it is as well whether a later one of the same iteration does.
    disputed = {
        each
        for _, line, verdict in verdicts
        if verdict and (verdict.is_open or (way == "verify" and verdict.is_contradiction))
        for each in _iterations(line)
    }
    for number, line, verdict in verdicts:
        if verdict and verdict.record and verdict.record.get("iteration") in disputed:
            continue
        messages = messages_by_line.get(number, [])
        for kind, what in _wrong(way, line, verdict, messages, rows, expected):
            yield Wrong(f"{way}: {kind}", index, number - 1, what)
    if extra := set(rows) - expected - {number for _, line, _ in verdicts for number in _iterations(line)}:
        yield Wrong(f"{way}: iterations out of nowhere", index, None, f"{sorted(extra)[:5]}")
    if unplaced := [number for number in messages_by_line if number is not None and number > len(verdicts)]:
        yield Wrong(f"{way}: lines named that are not there", index, None, f"{unplaced[:5]}")


def _wrong(
    way: str,
    line: bytes,
    verdict: oracle.Verdict | None,
    messages: list[str],
    rows: dict[int, Record],
    expected: set[int],
) -> Iterator[tuple[str, str]]:
    if verdict is None:
        if messages:
            yield "a blank line is named", messages[0]
        return
    if len(messages) > 1:
        yield "named twice", " / ".join(messages)
    # Commands that report contradictory numbers may keep such records.
    if verdict.is_open or (way == "verify" and verdict.is_contradiction):
        return
    if verdict.accepted and verdict.record is not None:
        row = rows.get(verdict.record["iteration"])
        if messages:
            yield f"a sound line is refused: {_plain(messages[0])}", messages[0]
        elif row is None:
            yield "a sound line is not there, and not named", ""
        elif row and (field := _difference(verdict.record, row)):
            yield f"{field[0]} has another value", field[1]
        return
    reason = f"{_plain(verdict.field)} {_plain(verdict.why)}".strip()
    if not messages:
        there = any(each in rows and each not in expected for each in _iterations(line))
        yield f"{'accepted' if there else 'left out, and not named'}, though {reason}", verdict.field
    elif verdict.field and not _names_a_field(messages[0], verdict.field):
        yield f"{_plain(verdict.field)} is not named, which {verdict.why}", messages[0]


def _names_a_field(message: str, field: str) -> bool:
    """Whether a message names the field at fault, or, as there may be several, another one."""
    names = {
        field.rpartition(".")[2],
        "not JSON",
        "torn",
        "is given twice",
        *oracle.EPISODE,
        *oracle.THRESHOLD,
        "example_ids",
    }
    return any(name in message for name in names)


def _iterations(line: bytes) -> set[int]:
    """The iterations that a lenient reader may see in a line."""
    numbers = re.findall(rb'"(?:i|\\u0069)teration"\s*:\s*"?(-?\d{1,19})(?:\.(\d))?', line)
    return {int(whole) + (tenths >= b"5") for whole, tenths in numbers}


def _difference(record: Record, row: Record) -> tuple[str, str] | None:
    evidence = record["evidence"] or {}
    wanted = {
        "initial": _candidate(record["initial"]),
        "revised": record["revised"] and _candidate(record["revised"]),
        "revision_status": record["revision_status"],
        "selected": record["selected"],
        "evidence_kind": evidence.get("kind") or ("three" if record["variant"] == "threetraj" else None),
        "shown": [_numbers(each, (*oracle.SHOWN, "name", "text")) for each in evidence["shown"]] if evidence else None,
        "statistics": evidence.get("statistics") and _numbers(evidence["statistics"], _STATISTICS),
    }
    if record.get("tau_c") is not None:
        wanted["tau_c"] = float(record["tau_c"])
    found = {**row, **{role: row[role] and _candidate(row[role]) for role in ("initial", "revised")}}
    for name, value in wanted.items():
        if value != found[name]:
            return name, f"{value!r}\n{found[name]!r}"[:400]
    return None


def _candidate(value: Record) -> Record:
    """A candidate's fields, its text with the components in their order."""
    text = value.get("text")
    pairs = list((json.loads(text) if isinstance(text, str) else text).items()) if text is not None else None
    return {**_numbers(value, dict.fromkeys((*oracle.CANDIDATE, "example_ids"))), "text": pairs}


_STATISTICS: Final = ("returns", "lengths", "successes", "rollouts")
_DOUBLES: Final = frozenset({"params", "returns", "mean_return", "return", "mean", "min", "max"})


def _numbers(value: Record, fields: Iterable[str]) -> Record:
    """The fields that are known, with numbers as doubles where doubles are kept."""
    return {name: _number(value.get(name), name) for name in fields}


def _number(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return _numbers(value, ("mean", "min", "max"))
    if name in _DOUBLES and isinstance(value, list):
        return [float(each) for each in value]
    return float(value) if name in _DOUBLES and value is not None else value


def _plain(text: str) -> str:
    """A message or field without what differs from record to record."""
    text = re.sub(r"^(initial|revised)\b", "candidate", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|-?\d[\d.e+-]*|run-\d+", "…", text)
    return re.sub(r"\(.*\)", "(…)", text)[:120]


# Making a failure small ----------------------------------------------------------------------------------------------


def _report(trial: Trial, cases: Sequence[Case], wrong: Wrong) -> None:
    """Report a disagreement, with the smallest data set that shows it where its kind is new."""
    case = cases[wrong.case]
    line = None if wrong.line is None else _nth(case, wrong.line)
    done = case.done if line is None else line.done
    if not trial.is_new(wrong.kind):
        trial.fail(wrong.kind, done)
        return
    if line is None and case.done == "":
        line = _line_at_fault(trial, case, wrong.kind)
        done = line.done if line else done
    alone = case if line is None else replace(case, lines=(line,))
    trial.step(trial.again, 120.0)
    shown = trial.folder / "shown"
    if not any(each.kind == wrong.kind for each in examine([_sound_beside(trial), alone], shown)):
        alone = case
        examine([_sound_beside(trial), alone], shown)
    text = "" if line is None else repr(line.data[:300])
    trial.fail(wrong.kind, f"{done}\n{wrong.what}\n{text}", shown_line("audit", ["revisions", shown], shown), shown)


def _line_at_fault(trial: Trial, case: Case, kind: str) -> Line | None:
    """The line that alone makes a reading of its file fail in that way."""

    def shows(part: Sequence[int]) -> bool:
        some = replace(case, lines=tuple(case.lines[each] for each in part))
        return any(wrong.kind == kind for wrong in examine([_sound_beside(trial), some], trial.folder / "smaller"))

    number = _halve(range(len(case.lines)), shows)
    return None if number is None else case.lines[number]


def _sound_beside(trial: Trial) -> Case:
    """A sound run, since no command reads a data set without any."""
    rng = Random(trial.number)
    run = samples.run_json(rng, "sound")
    line = samples.line_of(samples.episode(rng, run, 0)) + b"\n"
    return Case("sound", json.dumps(run).encode(), "", (Line(line, ""),))


def _nth(case: Case, number: int) -> Line:
    """The drawn line that holds a line of the file; a mutation may have put breaks into it."""
    for line in case.lines:
        number -= max(1, line.data.count(b"\n"))
        if number < 0:
            return line
    return case.lines[-1]


def _without(case: Case, number: int | None) -> Case:
    if number is None:
        run = samples.run_json(Random(0), case.name)
        return Case(case.name, json.dumps(run).encode(), "", ())
    return replace(case, lines=tuple(line for index, line in enumerate(case.lines) if index != number))


def _culprit(trial: Trial, cases: Sequence[Case], kind: str) -> tuple[int, int | None] | None:
    """The case, and its line or None for its `run.json`, that alone ends a reading in that error."""

    def ends(some: Sequence[Case]) -> bool:
        trial.step(trial.again, 120.0)
        found = examine([_sound_beside(trial), *some], trial.folder / "smaller")
        return Counter(wrong.kind for wrong in found if wrong.case < 0)[kind] > 0

    index = _halve(range(len(cases)), lambda part: ends([cases[each] for each in part]))
    if index is None:
        return None
    case = cases[index]
    if ends([replace(case, lines=())]):
        return index, None
    line = _halve(
        range(len(case.lines)), lambda part: ends([replace(case, lines=tuple(case.lines[each] for each in part))])
    )
    return None if line is None else (index, line)


def _halve(whole: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> int | None:
    """The one of several for which something holds, that holds for them together."""
    while len(whole) > 1:
        half = whole[: len(whole) // 2]
        whole = half if holds(half) else whole[len(whole) // 2 :]
    return whole[0] if len(whole) == 1 and holds(whole) else None
