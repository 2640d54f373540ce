"""GEPA's `candidates.json`: the texts of each candidate by component, at its index."""

from __future__ import annotations

from collections import Counter
from typing import Final

from audit.output.errors import count
from audit.records.locating import Found
from audit.sources.gepa_entries import components
from audit.sources.intake import Intake
from audit.sources.json_items import ItemsError, items
from collector.system.regular_files import open_regular

LARGEST: Final = 2**28
"""Bytes of the largest file that is read."""


def read_candidates(found: Found, intake: Intake) -> tuple[list[dict[str, str] | None], bool]:
    """Read the candidates, None for one that cannot be used, and whether these are all; what is wrong is reported.

    Raises:
        OSError: the file cannot be read.
    """
    candidates: list[dict[str, str] | None] = []
    if found.path.stat().st_size > LARGEST:
        intake.problem(found.label, None, f"larger than {LARGEST >> 20} MiB; its texts are unknown")
        return candidates, False
    is_whole = True
    try:
        with open_regular(found.path) as stream:
            candidates.extend(components(each) for each in items(stream))
    except ItemsError as error:
        is_whole = False
        intake.problem(found.label, None, f"{error}; {count(len(candidates), 'candidate')} read")
    if None in candidates:
        unread = count(candidates.count(None), "candidate")
        intake.problem(found.label, None, f"{unread} without texts by component; unknown")
    usual = Counter(frozenset(each) for each in candidates if each is not None).most_common(1)
    odd = [index for index, each in enumerate(candidates) if each is not None and frozenset(each) != usual[0][0]]
    if odd:
        more = f" ({len(odd) - 1} more like it)" if len(odd) > 1 else ""
        lacks = "has other components than most candidates; its texts are unknown"
        intake.problem(found.label, None, f"candidate {odd[0]} {lacks}{more}")
    return [None if index in odd else each for index, each in enumerate(candidates)], is_whole
