"""Records as data frames, with what a user must know of them on standard error."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from audit.commands import reading as shared
from audit.options import Options, names
from audit.output import notes
from audit.output.errors import AuditError, shortened
from audit.output.names import meant
from audit.reports.unfinished import unfinished

if TYPE_CHECKING:
    import pandas as pd


reading: Final = functools.partial(shared.reading, cached=False)
"""Makes a command of a function, with the audit's shared options; `stats.cli.main` reports its errors."""
deliver: Final = functools.partial(shared.print_table, program="stats")
note: Final = functools.partial(notes.note, program="stats")


@dataclass(frozen=True)
class Frames:
    """Relations by name, the tasks of all records, what is compared, and what a reader of any table must know."""

    of: dict[str, pd.DataFrame]
    tasks: list[str]
    caption: str | None
    reference: str | None = None


_KINDS: Final = {"variant": "method", "condition": "condition"}


def read(options: Options, relations: Sequence[str], reference: tuple[str, str] | None = None) -> Frames:
    """Read relations of the audit; problems in the records are reported on standard error.

    Args:
        options: where to read, and which tasks, methods and conditions.
        relations: their names.
        reference: a column, `variant` or `condition`, and what was asked for of it beside them.

    Raises:
        AuditError: as `audit.options.Options.read` raises it; or no run is of the reference.
    """
    with options.read() as store:
        chosen = None
        if reference is not None:
            chosen = meant(reference[1], known := names(store, reference[0]))
            if chosen not in known:
                kind, named = _KINDS[reference[0]], ", ".join(known)
                raise AuditError(f"--reference {reference[1]}: no runs of that {kind}; {kind}s here: {named}")
        tasks = names(store, "env")
        frames = {name: options.select(store.relation(name)).df() for name in {*relations, "run_facts"}}
        notes.print_notes([], store.problems, "stats")
    facts = frames["run_facts"]
    if facts.empty:
        note("nothing to show: no such runs in the records")
    for line in shortened(unfinished(facts.to_dict("records"))):
        note(line)
    simulated = sorted(set(facts.loc[facts["backend"] == "simulated", "condition"]))
    caption = f"Simulated model, not a language model: {', '.join(simulated)}." if simulated else None
    if caption:
        note(caption)
    return Frames(frames, tasks, caption, chosen)
