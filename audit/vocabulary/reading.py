"""How records are read and classified, as options of commands and arguments of functions state it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audit.vocabulary.detectors import DEFAULT
from audit.vocabulary.thresholds import Overrides


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How records are read and classified.

    Attributes:
        strict: reject data with problems; otherwise anything with a problem is left out and listed.
        cache: whether what was read in an earlier audit may be used, and kept for a later one.
        detector: how references are found: one of `audit.vocabulary.detectors.DETECTORS`, the file of a user's own
            (`FILE.toml`, `FILE.py[:FUNCTION]`), or the name of an installed one; None for the default of the records.
        about: the item that references are sought to: worst, median, best, first, last, `label:X` or an id; None for
            what the detector is about, which is the worst one unless its file states another.
        overrides: thresholds of the edit patterns, by task and name, that override all others.
        judgements: files that `audit judge` has written; for the detector `judge` and rubrics else those beside the
            records.
        judge: the model whose judgements such a detector takes, where there are several.
        plans: files of `audit intervene plan`, whose experiments the relations `interventions…` hold.
    """

    strict: bool = False
    cache: bool = True
    detector: str | None = DEFAULT
    about: str | None = None
    overrides: Overrides = field(default_factory=dict[str, Mapping[str, float]])
    judgements: Sequence[str | Path] = ()
    judge: str | None = None
    plans: Sequence[Path] = ()
