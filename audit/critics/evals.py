"""Cards of Inspect's logs: the answers in a `.eval` file become those of an examination."""

from __future__ import annotations

from pathlib import Path

from audit.output.errors import AuditError
from audit.output.rows import Table


def critic_from(
    log: str | Path, *, out: str | Path | None = None, workers: str | None = None, cache: bool = True
) -> Table:
    """Make the card of a log of Inspect.

    Raises:
        AuditError: it cannot be read.
    """
    raise AuditError(f"cannot read {log} {out} {workers} {cache}")
