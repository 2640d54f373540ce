"""Where imported records go: a folder beside the data set's place, which takes that place when it is complete."""

from __future__ import annotations

import contextlib
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import msgspec

from audit.importing.fields import folder_name
from audit.importing.mapping import LogMapping
from audit.importing.names import in_sequence, numbered
from audit.importing.run_files import run_of
from audit.importing.translating import RepeatedError, RowError
from audit.output.errors import Problem, UsageError
from audit.output.unfinished_results import folder_for, put_in_place
from audit.sources.iterations import Iteration
from audit.sources.native import IMPORTED_FROM
from audit.vocabulary.keys import RunKey
from collector.records import LONGEST_LINE, RecordError, decode_run, encode
from collector.system.regular_files import RUN, read_regular

REPORT: Final = "import.json"
"""Describes what an imported data set was made from; a folder without it is not taken for one."""
PROBLEMS: Final = "problems.jsonl"
OPEN: Final = 64
"""Files that are kept open at once."""

IMPORTED_RUN: Final = "imported_run"
"""The option of a run that holds its name in the log, where that is text."""

_Identity = tuple[str, str, str, int | str]
_UNFINISHED: Final = "episodes.part"
_RECORDS: Final = "episodes.jsonl"
_OURS: Final = frozenset({REPORT, PROBLEMS, "run.json", _RECORDS})


@dataclass
class _RunSoFar:
    folder: Path
    iterations: dict[int | str, int] = field(default_factory=dict)
    rollouts: set[int] = field(default_factory=set)
    files: dict[str, None] = field(default_factory=dict)
    revisions: int = 0

    @property
    def names(self) -> list[str]:
        """Its iterations that are named by text."""
        return [name for name in self.iterations if isinstance(name, str)]

    def renumbered(self) -> dict[int, int]:
        """The numbers of iterations that are named by text, by those that were written first; only what changes."""
        numbers, _ = in_sequence(self.names)
        return {before: after for name, after in numbers.items() if (before := self.iterations[name]) != after}


class DataSet:
    """A data set that is being written: a context manager that leaves nothing behind unless `finish` was called.

    Args:
        out: where it will be.
        mapping: describes the runs.
        force: replace an earlier import there.

    Raises:
        UsageError: `out` already exists.
    """

    def __init__(self, out: Path, mapping: LogMapping, *, force: bool) -> None:
        self._out = _target(out)
        self._mapping = mapping
        self._force = force
        _refuse_replacing(self._out, out, force=force)
        self._part = self._out
        self._made: list[Path] = []
        self._resources = contextlib.ExitStack()
        self._runs: dict[_Identity, _RunSoFar] = {}
        self._open: OrderedDict[Path, IO[bytes]] = OrderedDict()
        self._problems: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._made = [folder for folder in self._out.parents if not folder.exists()]
        self._part = self._resources.enter_context(folder_for(self._out)) / "new"
        self._part.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # a full disk has been reported already
            self._close()
        try:
            self._resources.__exit__(kind, error, traceback)
        finally:
            for folder in self._made:
                with contextlib.suppress(OSError):  # not empty: the data set is in it
                    folder.rmdir()

    def add(self, record: dict[str, Any], file: str) -> None:
        """Add a record that was found in a file.

        Raises:
            RepeatedError: the iteration was added before.
            RowError: the record is too long to be read again.
        """
        identity = (record["condition"], record["env"], record["variant"], record["run"])
        run = self._runs.get(identity)
        if run is None:
            run = self._runs[identity] = _RunSoFar(self._part / _folder(identity, len(self._runs)))
            run.folder.mkdir(parents=True)
        if record["iteration"] in run.iterations:
            condition, env, variant, number = identity
            raise RepeatedError(
                f"iteration {record['iteration']} of run {number} ({condition}, {env}, {variant}) is in an earlier row"
            )
        # What is named by text gets its number when all names are known.
        number = 1 if isinstance(record["run"], str) else record["run"]
        given = record["iteration"]
        iteration = len(run.iterations) if isinstance(given, str) else given
        line = encode(msgspec.convert({**record, "run": number, "iteration": iteration}, Iteration))
        if len(line) > LONGEST_LINE:
            raise RowError("the record is longer than 16 MiB")
        self._file(run.folder / _UNFINISHED).write(line)
        run.iterations[given] = iteration
        run.files[file] = None
        for role in ("initial", "revised"):
            if record[role] is not None:
                run.rollouts.add(len(record[role]["returns"] or ()))
        run.revisions += record["revised"] is not None

    def leave_out(self, problem: Problem) -> None:
        """Note a row that is left out."""
        if self._problems is None:
            self._problems = (self._part / PROBLEMS).open("wb")
        self._problems.write(msgspec.json.encode(problem) + b"\n")

    def groups(self) -> list[dict[str, Any]]:
        """Runs, iterations and revisions of each condition, task and method."""
        counted: dict[tuple[str, str, str], Counter[str]] = {}
        for identity, run in self._runs.items():
            counter = counted.setdefault(identity[:3], Counter())
            counter.update(runs=1, iterations=len(run.iterations), revisions=run.revisions)
        return [
            {"condition": group[0], "env": group[1], "variant": group[2], **counts}
            for group, counts in sorted(counted.items())
        ]

    def finish(self, report: dict[str, Any]) -> None:
        """Describe the runs, and put the data set in its place.

        Raises:
            UsageError: `out` was created meanwhile.
        """
        self._close()
        numbers = self.run_numbers()
        for (condition, env, variant, name), run in self._runs.items():
            options: dict[str, Any] = {IMPORTED_FROM: list(run.files)}
            number, folder = name, run.folder
            if isinstance(number, str):
                options[IMPORTED_RUN], number = number, numbers[number]
                folder = folder.rename(folder.with_name(_run_folder(number)))
            # Candidates were put in order, first ones included, before they became records.
            iterations = run.renumbered() if self._mapping.parents is None else {}
            if isinstance(name, str) or iterations:
                _renumber(folder / _UNFINISHED, number, iterations)
            (folder / _UNFINISHED).rename(folder / _RECORDS)
            described = run_of(RunKey(condition, env, variant, number), self._mapping, run.rollouts, options)
            (folder / "run.json").write_bytes(encode(described))
        (self._part / REPORT).write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
        _refuse_replacing(self._out, self._out, force=self._force)
        put_in_place(self._part, self._out)

    def run_numbers(self) -> dict[str, int]:
        """The numbers of the runs that the log names by text: the same for a name wherever it occurs."""
        return numbered(name for *_, name in self._runs if isinstance(name, str))

    def named_iterations(self) -> list[str | None]:
        """For each run that names iterations by text, what the names are where they state no order, else None."""
        return [in_sequence(names)[1] for run in self._runs.values() if (names := run.names)]

    def _file(self, path: Path) -> IO[bytes]:
        stream = self._open.pop(path, None) or path.open("ab")
        self._open[path] = stream
        if len(self._open) > OPEN:
            self._open.popitem(last=False)[1].close()
        return stream

    def _close(self) -> None:
        with contextlib.ExitStack() as streams:
            for stream in (*self._open.values(), self._problems):
                if stream is not None:
                    streams.callback(stream.close)
            self._open.clear()
            self._problems = None


def _folder(identity: _Identity, place: int) -> Path:
    """Where records of a run go; `place` distinguishes those that have no number yet."""
    condition, env, variant, run = identity
    name = f"{place}.part" if isinstance(run, str) else _run_folder(run)
    return Path(*map(folder_name, (condition, env, variant)), name)


def _run_folder(number: int) -> str:
    return f"run-{number:02d}"


def _renumber(path: Path, number: int, iterations: Mapping[int, int]) -> None:
    """Give the records of a run its number, and those of some iterations theirs."""
    aside = path.with_suffix(".numbered")
    with path.open("rb") as named, aside.open("wb") as written:
        for line in named:
            record = msgspec.json.decode(line)
            record |= {"run": number, "iteration": iterations.get(record["iteration"], record["iteration"])}
            written.write(msgspec.json.encode(record) + b"\n")
    aside.replace(path)


def _target(out: Path) -> Path:
    target = out.resolve()
    if not target.parent.is_dir() and target.parent.exists():
        raise UsageError(f"--out {out}: {target.parent} is not a folder")
    return target


def _refuse_replacing(target: Path, out: Path, *, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise UsageError(f"--out {out}: already exists, and is not a folder")
    if not target.is_dir() or not any(target.iterdir()):
        return
    if not force:
        raise UsageError(f"--out {out}: already exists and is not empty; replace an earlier import with --force")
    if (strange := _not_imported(target)) is not None:
        raise UsageError(f"--out {out}: holds {strange}, which no import made; --force replaces earlier imports only")


def _not_imported(folder: Path) -> Path | None:
    """A file in a folder that `audit import` did not make; None where it made everything."""
    if not (folder / REPORT).is_file():
        return next(folder.iterdir()).relative_to(folder)
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        if path.name not in _OURS or (path.name == "run.json" and not _is_imported(path)):
            return path.relative_to(folder)
    return None


def _is_imported(path: Path) -> bool:
    try:
        return IMPORTED_FROM in decode_run(read_regular(path, RUN)).options
    except (RecordError, OSError):
        return False
