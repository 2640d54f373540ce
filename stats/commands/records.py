"""Records as data frames, with what a user must know of them on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from audit.problems import AuditError, count, report, shortened
from audit.request import Request
from audit.unfinished import unfinished

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Frames:
    """Relations by name, and what a reader of any table made of them must know."""

    of: dict[str, pd.DataFrame]
    caption: str | None


def read(
    paths: Sequence[Path],
    relations: Sequence[str],
    *,
    strict: bool,
    detector: str = "word",
    groups: Request | None = None,
) -> Frames:
    """Read relations of the audit; problems in the records are told on standard error.

    Args:
        paths: folders, archives or packs.
        relations: their names.
        strict: whether problems are refused.
        detector: of references to the worst rollout.
        groups: the tasks, methods and conditions that are asked for; all, if not given.

    Raises:
        AuditError: there are no records, none of a group that was asked for, or `strict` and something is wrong.
    """
    from audit.store import open_store

    wanted = groups or Request(paths=paths)
    with open_store(paths, strict=strict, detector=detector) as store:
        if groups and (absent := groups.absent(store.relation("runs"))):
            raise AuditError(absent)
        frames = {name: wanted.select(store.relation(name)).df() for name in {*relations, "run_facts"}}
        if store.problems:
            note(f"{count(len(store.problems), 'problem')} in the records, left out:")
            for line in report(store.problems):
                note(f"  {line}")
    facts = frames["run_facts"]
    for line in shortened(unfinished(facts.to_dict("records"))):
        note(line)
    simulated = sorted(set(facts.loc[facts["backend"] == "simulated", "condition"]))
    caption = f"Simulated model, not a language model: {', '.join(simulated)}." if simulated else None
    if caption:
        note(caption)
    return Frames(frames, caption)


def note(text: str) -> None:
    """A line on standard error; names in records are anybody's, and do nothing to a terminal."""
    from audit.escaping import visible

    typer.echo(f"stats: {visible(text)}", err=True)
