"""What the relation `mentions` is made of: every answer read once, in batches, so that texts never fill the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.references import Shown, resolve

if TYPE_CHECKING:
    import duckdb

BATCH: Final = 1000
"""Answers that are read at once."""
IDENTITY: Final = ("condition", "env", "variant", "run", "iteration")
FIELDS: Final = ("start", "end", "text", "kind", "labels", "rollouts", "worst", "negated", "discounted")


def write_mentions(answers: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Resolve the references of all answers, and write a line of JSON for each mention.

    Args:
        answers: a query for all of the relation `critic_answers`, which was executed and not yet fetched.
        path: the file to write.
    """
    columns = [column[0] for column in answers.description or ()]
    with path.open("wb") as file:
        while rows := answers.fetchmany(BATCH):
            for row in rows:
                mentions = _mentions(dict(zip(columns, row, strict=True)))
                file.writelines(msgspec.json.encode(mention) + b"\n" for mention in mentions)


def _mentions(revision: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    shown = Shown.of(
        revision["shown"], returns=revision["returns"], lengths=revision["lengths"], statistics=revision["statistics"]
    )
    identity = {name: revision[name] for name in IDENTITY}
    for part in ("answer", "thinking"):
        for ordinal, mention in enumerate(resolve(revision[part] or "", shown)):
            yield {
                **identity, "part": part, "ordinal": ordinal, **{name: getattr(mention, name) for name in FIELDS}
            }  # fmt: skip
