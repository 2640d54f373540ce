"""What GEPA showed of a minibatch: scores, and the texts of `reflective_dataset.json` where a run wrote it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from audit.sources.gepa_entries import Entry, Task
from audit.sources.iterations import ShownEvidence
from audit.sources.tool_runs import ToolRun, cut
from audit.vocabulary.evidence import ShownRollout
from collector.system.regular_files import read_regular

DATASET: Final = "reflective_dataset.json"
LARGEST: Final = 2**28
"""Bytes of the largest of these that is read."""


def shown_evidence(datasets: Mapping[str, Path], run: ToolRun, entry: Entry, task: Task) -> ShownEvidence:
    """The minibatch of a proposal, with the texts of the reflective dataset where there is one of it."""
    texts = _shown_texts(datasets, run, entry, len(task.ids)) or [msgspec.UNSET] * len(task.ids)
    shown = [
        ShownRollout(label="item", rollout=place, return_=score, name=f"Example {place + 1}", text=text)
        for place, (score, text) in enumerate(zip(task.before, texts, strict=True))
    ]
    return ShownEvidence(kind="batch", shown=shown)


def _shown_texts(
    datasets: Mapping[str, Path], run: ToolRun, entry: Entry, length: int
) -> Sequence[str | msgspec.UnsetType] | None:
    """What was shown of each example, where the run wrote it: of the first component, and of one proposal alone."""
    path = datasets.get(entry.anchor or "")
    if path is None or len(entry.tasks) != 1:
        return None
    try:
        dataset = json.loads(read_regular(path, LARGEST))
    except (OSError, ValueError, RecursionError):
        dataset = None
    records = next(iter(dataset.values()), None) if isinstance(dataset, dict) else None
    # An adapter may leave examples out, and then it is unknown which.
    if not isinstance(records, list) or len(records) != length:
        run.fault(f"{DATASET} has no record of each example", entry.iteration, "what was shown of them is unknown")
        return None
    return [cut(_rendered(record)) for record in records]


def _rendered(record: object, level: int = 2) -> str:
    """A record as GEPA's default prompt shows it below its heading."""
    if isinstance(record, dict) and level <= 6:
        return "".join(f"{'#' * level} {key}\n{_rendered(value, level + 1)}" for key, value in record.items())
    if isinstance(record, list) and level <= 6:
        return "".join(f"{'#' * level} Item {n}\n{_rendered(each, level + 1)}" for n, each in enumerate(record, 1))
    return f"{str(record).strip()}\n\n"
