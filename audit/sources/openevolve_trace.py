"""Lines of OpenEvolve's evolution traces, packed or not, and what they state twice."""

from __future__ import annotations

import gzip
import json
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

from audit.records.unpacking import RATIO, UNPACKED
from audit.sources.intake import Intake
from audit.sources.tool_runs import LogError
from collector.records import LONGEST_LINE
from collector.system.regular_files import open_regular


def lines_of(
    traces: Sequence[tuple[str, Path]], intake: Intake, fault: Callable[[str, int], None] | None = None
) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The lines of a run's traces with their numbers in their files, from 1; None in place of one that is no object.

    Args:
        traces: their labels and files.
        intake: takes what is wrong with a file.
        fault: takes what is wrong with a line; without it nothing is reported, for a second reading.
    """
    for label, path in traces:
        is_empty = True
        try:
            for number, line in _lines(path):
                is_empty = False
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    value, reason = None, "it is torn, too long, or not JSON"
                else:
                    reason = "it is not a JSON object"
                if not isinstance(value, dict) and fault is not None:
                    fault(reason, number)
                yield number, value if isinstance(value, dict) else None
        except (OSError, EOFError, zlib.error) as error:
            if fault is not None:
                cause = getattr(error, "strerror", None) or error
                intake.problem(label, None, f"cannot be read to its end ({cause})")
        if is_empty and fault is not None:
            intake.problem(label, None, "holds no line")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with open_regular(path) as packed:
        is_packed = packed.read(2) == b"\x1f\x8b"
        left = max(UNPACKED, RATIO * packed.seek(0, os.SEEK_END)) if is_packed else math.inf
        packed.seek(0)
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=packed)) if is_packed else packed
        number = 1
        while left > 0 and (line := stream.readline(LONGEST_LINE)):
            left -= len(line)
            if line.strip():
                yield number, line
            number += line.endswith(b"\n")
        if left <= 0 and stream.read(1):
            raise OSError("it unpacks to more than it should; unpack it, and name the folder")


def check_gain(value: Mapping[str, Any], before: float, after: float) -> None:
    """Hold scores against the difference that the trace states.

    Raises:
        LogError: they have another.
    """
    gains = value.get("improvement_delta")
    gain = gains.get("combined_score") if isinstance(gains, dict) else None
    nearly = 1e-9 * max(1.0, abs(before), abs(after))
    if isinstance(gain, int | float) and not math.isclose(gain, after - before, rel_tol=1e-9, abs_tol=nearly):
        raise LogError(f"improvement_delta is not the difference of the scores: {gain}")
