"""The prompts that critics were asked, where the records of a run have them.

They are in `calls.jsonl` beside native records, and in `parameters_reasoning.txt` of the released code's logs. Archives
and packs have none: what analyses do not need is not unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from audit.sources.intake import RecordFile
from audit.sources.iterations import Iteration, Translated
from collector.system.regular_files import open_regular

CALLS = "calls.jsonl"
RELEASED = "parameters_reasoning.txt"
_BEGINS = "Critic-LLM (Reflection) prompt:\n"
_ENDS = "\n\nCritic-LLM response:\n"


class _Call(msgspec.Struct, frozen=True):
    """What is read of a line of `calls.jsonl`."""

    iteration: int
    role: str
    prompt: str
    error: str | None = None


def native_prompts(file: RecordFile) -> dict[int, str]:
    """The critic's prompt of each iteration of a run, by iteration; empty where its calls are not recorded.

    A prompt that was asked again counts once; a line that is no call is ignored, as an interrupted run may end in one.
    """
    calls = Path(file.real or file.file).parent / CALLS
    decoder = msgspec.json.Decoder(_Call)
    found: dict[int, str] = {}
    try:
        with open_regular(calls) as stream:
            for line in stream:
                try:
                    call = decoder.decode(line)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    continue
                if call.role == "critic" and (call.error is None or call.iteration not in found):
                    found[call.iteration] = call.prompt
    except OSError:
        return {}
    return found


def released_prompt(iteration: Iteration) -> str | None:
    """The critic's prompt of an iteration of the released code's logs; None where it cannot be read."""
    if not isinstance(iteration, Translated):
        return None
    try:
        with open_regular(Path(iteration.origin) / RELEASED) as stream:
            text = stream.read().decode("utf-8", errors="replace").replace("\r\n", "\n")
    except OSError:
        return None
    _, begins, rest = text.partition(_BEGINS)
    prompt, ends, _ = rest.partition(_ENDS)
    return f"{prompt.rstrip()}\n" if begins and ends else None


def prompts_of(files: tuple[RecordFile, ...], iterations: list[Iteration]) -> Iterator[str | None]:
    """The critic's prompt of each of a run's iterations, None where it is not recorded."""
    native: dict[int, str] = {}
    for file in files:
        if file.place is None:
            native |= native_prompts(file)
    for iteration in iterations:
        yield native.get(iteration.iteration) or released_prompt(iteration)
