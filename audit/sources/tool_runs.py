"""What sources of other tools' logs share: names of runs, lines of their iterations, and what is wrong in them."""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from statistics import fmean
from typing import IO, Any, Final, TypeVar

import msgspec

from audit.output.escaping import excerpt
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Candidate, ShownEvidence, Translated
from audit.sources.numbers import number_of
from audit.sources.prompts import CALLS, LINEAGE
from collector.records import LONGEST_LINE, PoolMember, Proposer, split_thinking

T = TypeVar("T")

LARGEST_ITEM: Final = 64 * 2**10
"""Bytes of what is kept of an item that a critic was shown."""
_NO_MEAN: Final = "its mean score is not a finite number"
_KINDS: Final[dict[type, str]] = {str: "a text", dict: "an object", list: "a list"}
_FAR: Final = 1000
"""Iterations in a row that hardly fail all."""
_encoder: Final = msgspec.json.Encoder()


class LogError(ValueError):
    """An entry of a log that cannot be used; the message names what is wrong."""


class ToolRun:
    """Writes the iterations of one run as they are read, and reports at the end what was left out.

    A log has one kind of fault thousands of times or not at all, so that each kind is one problem.
    """

    def __init__(self, label: str, intake: Intake) -> None:
        self.label = label
        # A folder of its own, since the calls of a run are looked for beside its iterations.
        self._folder = intake.new_file("translated", "")
        self._intake = intake
        # Many runs are read one after the other, and files are open while theirs is written.
        self._streams: dict[str, IO[bytes]] = {}
        self._faults: dict[tuple[str, str], list[str]] = {}
        self._digest = hashlib.sha256()
        self._lines = 0

    def write(
        self,
        name: tuple[str, int],
        tool: str,
        iteration: int,
        *,
        prompt: str | None = None,
        answer: str | None = None,
        **fields: Any,
    ) -> None:
        """Write one iteration.

        Args:
            name: the task's name and the run's number.
            tool: what its source, condition and method are called.
            iteration: its number, from 0.
            prompt: what the model was asked, where the log has it.
            answer: what it wrote, where nothing that was run came of it.
            fields: the other fields of the record.
        """
        env, run = name
        try:
            record = Translated(
                condition=tool, env=env, variant=tool, run=run, iteration=iteration, origin=self.label, **fields
            )
            line = _encoder.encode(record)
            call = None if prompt is None else _encoder.encode(_call(iteration, prompt, record.revised, answer))
        except UnicodeEncodeError:
            self.fault("a text holds half a character", iteration)
            return
        if len(line) >= LONGEST_LINE:
            self.fault("its texts are longer than 16 MiB", iteration)
            return
        self._digest.update(_encoder.encode((iteration, record.initial, record.revised)))
        self._append("episodes.jsonl", line)
        if call is not None:
            self._append(CALLS, call)
        self._lines += 1

    def joined(self, member: PoolMember) -> None:
        """Write down a candidate that joined the pool."""
        with contextlib.suppress(UnicodeEncodeError):  # its revision has that fault too
            line = _encoder.encode(member)
            self._append(LINEAGE, line)

    def _append(self, name: str, line: bytes) -> None:
        if name not in self._streams:
            self._folder.mkdir(exist_ok=True)
            self._streams[name] = (self._folder / name).open("wb")
        self._streams[name].write(line + b"\n")

    def fault(self, reason: str, number: int | None, effect: str = "left out", *, unit: str = "iteration") -> None:
        """Note what is wrong with an iteration, or a line of a log, and what becomes of it.

        What is behind a colon is an example, and makes no kind of its own.
        """
        kind = reason.partition(": ")[0]
        where = "" if number is None else f"{unit} {number}: "
        self._faults.setdefault((kind, effect), []).append(f"{where}{reason}; {effect}")

    def close(self, facts: RunFacts, copies: dict[str, str]) -> None:
        """Hand over the run.

        Args:
            facts: what is known of it.
            copies: what each run so far holds → its label; a run that holds the same is its copy.
        """
        for stream in self._streams.values():
            stream.close()
        for faults in self._faults.values():
            more = f" ({len(faults) - 1} more like it)" if len(faults) > 1 else ""
            self._intake.problem(self.label, None, f"{faults[0]}{more}")
        first = copies.setdefault(self._digest.hexdigest(), self.label)
        if self._lines and first != self.label:
            self._intake.problem(self.label, None, f"holds the same iterations as {first}; left out")
            return
        self._folder.mkdir(exist_ok=True)
        path = self._folder / "episodes.jsonl"
        path.touch()
        self._intake.add_run(facts)
        self._intake.add_file(path, self.label, facts)


def _call(iteration: int, prompt: str, revised: Candidate | None, answer: str | None) -> dict[str, Any]:
    answer, thinking = (answer, None) if revised is None else (revised.answer, revised.thinking)
    call = {"iteration": iteration, "role": "critic", "attempt": 1, "prompt": prompt}
    return {**call, "completion": answer, "thinking": thinking}


def joined(system: object, user: object) -> str | None:
    """A prompt whose parts a log keeps apart; None where it has neither."""
    return "\n\n".join(part for part in (system, user) if isinstance(part, str) and part) or None


def candidate(
    source: Proposer,
    text: dict[str, str] | None,
    scores: Sequence[float] | None,
    *,
    mean: float | None = None,
    ids: list[str] | None = None,
    answer: str | None = None,
    thinking: str | None = None,
) -> Candidate:
    """A candidate of a tool's log; its mean score is that of its scores, unless the log states it alone.

    Raises:
        LogError: there is no finite mean.
    """
    value = mean_of(scores) if scores else mean
    if value is None or not math.isfinite(value):
        raise LogError(_NO_MEAN)
    if answer is not None:
        answer, thinking = split_thinking(answer, thinking, proposed=(text or {}).values())
    return Candidate(
        source=source,
        text=text,
        recorded_returns=list(scores) if scores else None,
        example_ids=ids,
        mean_return=value,
        answer=answer,
        thinking=thinking,
    )


def revision(
    initial: Candidate, revised: Candidate, evidence: ShownEvidence | None, *, accepted: bool
) -> dict[str, Any]:
    """The fields of an iteration that revised a candidate."""
    return {
        "initial": initial,
        "revised": revised,
        "revision_status": "ok",
        "selected": "revised" if accepted else "initial",
        "evidence": evidence,
    }


def unread(initial: Candidate, evidence: ShownEvidence | None) -> dict[str, Any]:
    """The fields of an iteration whose answer gave nothing that was run, and so has no score."""
    fields = {"initial": initial, "revised": None, "revision_status": "unreadable", "selected": "initial"}
    return {**fields, "evidence": evidence}


def mean_of(scores: Sequence[float]) -> float:
    """The mean of finite scores, which does not depend on their order.

    Raises:
        LogError: it is not finite.
    """
    try:
        return fmean(scores)
    except OverflowError:
        raise LogError(_NO_MEAN) from None


def number(value: object) -> float:
    """A score, in any of the forms of `number_of`.

    Raises:
        LogError: it is no number, or not a finite one.
    """
    score = number_of(value)
    if score is None or not math.isfinite(score):
        raise LogError(f"a score is not a finite number: {excerpt(value)}")
    return score


def index(value: object, name: str) -> int:
    """A number that counts from 0, also one of NumPy's types that was written as text.

    Raises:
        LogError: it is anything else.
    """
    if isinstance(value, int | str) and not isinstance(value, bool):
        whole = number_of(value) if isinstance(value, str) and "(" in value else value
        if isinstance(whole, int | float) and 0 <= whole < 2**53 and whole == int(whole):
            return int(whole)
    raise LogError(f"{name} is not a number from 0: {excerpt(value)}")


def required(record: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """A field of an entry.

    Raises:
        LogError: it is missing, or of another type.
    """
    value = record.get(name)
    if isinstance(value, kind):
        return value
    raise LogError(f"{name} is not {_KINDS[kind]}: {excerpt(value)}")


def optional(record: Mapping[str, Any], name: str, kind: type[T]) -> T | None:
    """The same, and None where the entry does not have it.

    Raises:
        LogError: it is of another type.
    """
    return None if record.get(name) is None else required(record, name, kind)


def text_of(record: Mapping[str, Any], name: str) -> str:
    """A text of an entry that is never empty.

    Raises:
        LogError: it is missing, empty, or no text.
    """
    if value := required(record, name, str):
        return value
    raise LogError(f"{name} is empty")


def gaps(numbers: Iterable[int], name: str) -> list[str]:
    """What to say of the first jump in numbers that is so far that one of them may be wrong."""
    far = ((before, after) for before, after in pairwise(sorted(numbers)) if after - before > _FAR)
    return [f"between {name} {before} and {name} {after} there is none" for before, after in islice(far, 1)]


def cut(text: str) -> str:
    """What is kept of an item, with a mark where it was longer."""
    data = text.encode("utf-8", "replace")
    mark = " […]"
    return text if len(data) <= LARGEST_ITEM else data[: LARGEST_ITEM - 8].decode("utf-8", "ignore") + mark
