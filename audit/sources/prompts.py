"""The prompts that models were asked, and the calls that asked them, where the records of a run have them.

They are in `calls.jsonl` beside native records, and in `parameters_reasoning.txt` of the released code's logs. Archives
and packs have none: what analyses do not need is not unpacked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from audit.output.errors import AuditError
from audit.sources.intake import RecordFile
from audit.sources.iterations import Iteration, Translated
from collector.system.regular_files import open_regular

CALLS = "calls.jsonl"
LINEAGE = "lineage.jsonl"
RELEASED = "parameters_reasoning.txt"
_RELEASED_PROMPTS = {
    "search": ("--- Search-LLM (Proposal) ---\nsystem:\n", "\n\nLLM:\n"),
    "critic": ("Critic-LLM (Reflection) prompt:\n", "\n\nCritic-LLM response:\n"),
}
"""What is before and after a prompt in the released code's logs, by who is asked."""


class Asked(msgspec.Struct, frozen=True):
    """What every line of `calls.jsonl` states of the prompt."""

    iteration: int
    role: str
    prompt: str
    error: str | None = None


AnyCall = TypeVar("AnyCall", bound=msgspec.Struct)


def calls_in(file: RecordFile, kind: type[AnyCall], name: str = CALLS) -> Iterator[AnyCall | None]:
    """The calls beside a file of records one by one, in the order in which they were made.

    Args:
        file: of native records; one of a pack has none.
        kind: what is read of each line.
        name: of the file beside it, where other lines than calls are wanted.

    Yields:
        A call, or None for a line that is no call, as an interrupted run may end in one.

    Raises:
        AuditError: the calls are there and cannot be read.
    """
    yield from calls_beside(Path(file.file), kind, name)


def calls_beside(records: Path, kind: type[AnyCall], name: str = CALLS) -> Iterator[AnyCall | None]:
    """The same of a file of native records by its path."""
    decoder = msgspec.json.Decoder(kind)
    path = records.parent / name
    try:
        stream = open_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise AuditError(f"{path}: cannot be read ({error.strerror or error})") from None
    with stream:
        for line in stream:
            try:
                yield decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                yield None


def native_prompts(file: RecordFile) -> dict[int, str]:
    """The critic's prompt of each iteration of a run, by iteration; empty where its calls are not recorded.

    A prompt that was asked again counts once.
    """
    return _prompts(calls_in(file, Asked))


def prompts_beside(records: Path) -> dict[int, str]:
    """The same of a file of native records by its path."""
    return _prompts(calls_beside(records, Asked))


def _prompts(calls: Iterable[Asked | None]) -> dict[int, str]:
    found: dict[int, str] = {}
    for call in calls:
        if call is not None and call.role == "critic" and (call.error is None or call.iteration not in found):
            found[call.iteration] = call.prompt
    return found


def released_prompt(iteration: Iteration, role: str = "critic") -> str | None:
    """The prompt of an iteration of the released code's logs; None where it cannot be read."""
    return released_prompt_in(Path(iteration.origin), role) if isinstance(iteration, Translated) else None


def released_prompt_in(folder: Path, role: str = "critic") -> str | None:
    """The prompt of the iteration whose folder it is in; None where it cannot be read."""
    try:
        with open_regular(folder / RELEASED) as stream:
            text = stream.read().decode("utf-8", errors="replace").replace("\r\n", "\n")
    except OSError:
        return None
    before, after = _RELEASED_PROMPTS[role]
    _, begins, rest = text.partition(before)
    prompt, ends, _ = rest.partition(after)
    return f"{prompt.rstrip()}\n" if begins and ends else None


def prompts_of(files: tuple[RecordFile, ...], iterations: list[Iteration]) -> Iterator[str | None]:
    """The critic's prompt of each of a run's iterations, None where it is not recorded."""
    native: dict[int, str] = {}
    for file in files:
        native |= native_prompts(file)
    for iteration in iterations:
        yield native.get(iteration.iteration) or released_prompt(iteration)
