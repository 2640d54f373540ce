"""Checks lines of records: which are sound, and what is wrong with the others.

Every line of every format passes through here, whatever is done with it afterwards. A sound line is given as the
encoder writes it, so that nothing is left which two readers of JSON could understand differently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from audit.sources import iterations as partial
from audit.sources.formats import CAPABILITIES, is_translated
from audit.sources.intake import RecordFile, RunFacts
from audit.vocabulary.keys import RunKey
from collector import records
from collector.records import LONGEST_LINE, RecordError, decode_canonical, encode, split_thinking

BLANK: Final = b" \t\r\n"
"""White space of JSON: nothing else may be outside of a record."""
TOO_LONG: Final = "the line is longer than 16 MiB"

Report: TypeAlias = Callable[[str, int | None, str], None]
"""Takes a problem: the file as people know it, the number of the line, and what is wrong."""


class SoundLine(NamedTuple):
    """A line that can be used: its number in the file from 1, the record, and its canonical JSON."""

    number: int
    record: Any
    json: bytes


class Checker:
    """Checks files of records one after the other; of an iteration that occurs twice the first one counts.

    Args:
        runs: what is known of each run.
        report: takes the problems.
        compare: whether fields are compared with each other too. Otherwise only what identifies rollouts is checked,
            for commands that report themselves what does not fit together.
        part_thinking: whether thinking is taken out of answers.
    """

    def __init__(
        self,
        runs: Mapping[RunKey, RunFacts],
        report: Report,
        *,
        compare: bool = True,
        part_thinking: bool = True,
    ) -> None:
        self._runs = runs
        self._report = report
        self._compare = compare
        self._part_thinking = part_thinking
        self._seen: dict[RunKey, set[int]] = {}

    def lines(self, file: RecordFile) -> Iterator[SoundLine]:
        """The sound lines of a file, in their order."""
        kind, precision = CAPABILITIES[file.source]
        run = self._runs[file.identity]
        seen = self._seen.setdefault(run.identity, set())
        try:
            for number, line in lines_in(Path(file.file)):
                try:
                    record, json = self._read(line, kind)
                    _check_run(record, run, seen)
                    self._check(record, run.rollouts, precision)
                except RecordError as error:
                    self._report(*_place(file, number, line), f"{error}; left out")
                    continue
                seen.add(record.iteration)
                yield SoundLine(number, record, json)
        except OSError as error:
            self._report(file.label, None, f"cannot be read ({error.strerror or error}); left out")

    def _read(self, line: bytes | None, kind: type[Any]) -> tuple[Any, bytes]:
        if line is None:
            raise RecordError(TOO_LONG)
        try:
            record, json = decode_canonical(line, kind)
        except RecordError:
            if not line.endswith(b"\n") and not _is_json(line):
                torn = "torn: the line breaks off, as after a power loss or while it is being written"
                raise RecordError(torn) from None
            raise
        if self._part_thinking:
            apart = {role: _apart(getattr(record, role)) for role in ("initial", "revised")}
            if apart["initial"] is not record.initial or apart["revised"] is not record.revised:
                record = msgspec.structs.replace(record, **apart)
                json = encode(record)
        if len(json) > LONGEST_LINE:
            raise RecordError(TOO_LONG)
        return record, json

    def _check(self, record: Any, rollouts: int | None, precision: float) -> None:
        bound = precision if self._compare else None
        _check_candidate("initial", record.initial, rollouts, bound)
        if record.revised is not None:
            _check_candidate("revised", record.revised, rollouts, bound)
        if self._compare:
            _compare(record, rollouts)


def lines_in(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """The lines that are not blank with their numbers, from 1; None for one that is too long.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                while line and not line.endswith(b"\n"):
                    line = stream.readline(LONGEST_LINE)
                yield number, None
            elif line.strip(BLANK):
                yield number, line


def _place(file: RecordFile, number: int, line: bytes | None) -> tuple[str, int | None]:
    """Where a line is for people. A line of a translated log is this program's own: its origin is stated in it."""
    if line is None or not is_translated(file.source):
        return file.label, number
    return msgspec.json.decode(line)["origin"], None


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except msgspec.ValidationError:  # a number that no type here can hold
        return True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _apart(candidate: Any) -> Any:
    """A candidate, or None, with its thinking apart from its answer."""
    if candidate is None or not candidate.answer:
        return candidate
    given = candidate.thinking or None  # the field may be missing
    texts = getattr(candidate, "text", None) or {}
    answer, thinking = split_thinking(candidate.answer, given, proposed=texts.values())
    if answer == candidate.answer:
        return candidate
    return msgspec.structs.replace(candidate, answer=answer, thinking=thinking)


def _check_run(record: Any, run: RunFacts, seen: set[int]) -> None:
    """Refuse a record of another run, and one of an iteration that an earlier line has."""
    is_of_run = record.condition == run.condition and record.env == run.env
    if not (is_of_run and record.variant == run.variant and record.run == run.run):
        raise RecordError(
            f"belongs to another run (condition {record.condition}, env {record.env}, variant {record.variant}, "
            f"run {record.run}) than the run.json beside it states"
        )
    if record.iteration in seen:
        whose = f"run {run.run} ({run.condition}, {run.env}, {run.variant})"
        raise RecordError(f"iteration {record.iteration} of {whose} is in an earlier line too")


def _check_candidate(role: str, candidate: Any, rollouts: int | None, precision: float | None) -> None:
    """Check a candidate by itself.

    Args:
        role: initial or revised.
        candidate: of any record type.
        rollouts: of the run, where it is known.
        precision: how far the mean may be from that of the returns, relative to it beyond 1; None to check neither the
            mean nor the parameters.
    """
    params, returns, *lists = _FIELDS[type(candidate)](candidate)
    if precision is not None and params is not None:
        if not params and candidate.source != "baseline":
            raise RecordError(f"{role}.params is empty")
        if getattr(candidate, "text", None) not in (None, msgspec.UNSET):
            raise RecordError(f"{role} has params and text")
    if returns is None:
        return
    size = len(returns)
    if not size:
        raise RecordError(f"{role}.returns is empty")
    for name, values in zip(_LISTS, lists, strict=True):
        if values is not None and values is not msgspec.UNSET and len(values) != size:
            raise RecordError(f"{role} has {size} returns and {len(values)} {name}")
    if rollouts is not None and size != rollouts:
        raise RecordError(f"{role} has {size} returns where the run has {rollouts} rollouts")
    if precision is None:
        return
    try:
        mean = math.fsum(returns) / size
    except OverflowError:
        mean = math.inf
    if not abs(candidate.mean_return - mean) <= precision * max(1.0, abs(candidate.mean_return)):
        raise RecordError(f"{role}.mean_return is {candidate.mean_return} where its returns have mean {mean}")


def _compare(record: Any, rollouts: int | None) -> None:
    """Compare the fields of an iteration with each other."""
    initial, revised = record.initial, record.revised
    before, returns, *_ = _FIELDS[type(initial)](initial)
    if revised is not None:
        after = _FIELDS[type(revised)](revised)[0]
        if before is not None and after is not None and len(before) != len(after):
            raise RecordError(f"initial has {len(before)} params and revised {len(after)}")
    elif record.selected == "revised":
        raise RecordError("selected is revised, and there is no revised candidate")
    if (record.revision_status == "ok") != (revised is not None):
        raise RecordError(f"revision_status is {record.revision_status}, which does not fit the revised candidate")
    size = rollouts if returns is None else len(returns)
    if size is not None and record.evidence is not None:
        for each in record.evidence.shown:
            if each.rollout is not None and each.rollout >= size:
                raise RecordError(f"evidence.shown holds a rollout beyond the {size} of initial")


_LISTS: Final = ("lengths", "seeds", "ended", "example_ids")
_FIELDS: Final[Mapping[type, Callable[[Any], Sequence[Any]]]] = {
    records.Candidate: lambda it: (it.params, it.returns, it.lengths, it.seeds, it.ended, None),
    records.TextCandidate: lambda it: (None, it.returns, None, None, None, it.example_ids),
    partial.Candidate: lambda it: (
        *(it.recorded_params, it.recorded_returns, it.recorded_lengths),
        *(it.seeds, it.ended, it.example_ids),
    ),
}
"""The parameters, returns and other lists of a candidate, by its type; None for what its record does not state."""
