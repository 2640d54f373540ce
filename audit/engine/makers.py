"""Relations that SQL alone cannot compute: a function writes their rows from those of another relation.

A model of that name reads the file, by the variable `<name>_file`, and gives its columns their types.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    import duckdb


class Writer(Protocol):
    """Writes a relation's rows as lines of JSON."""

    def __call__(self, rows: duckdb.DuckDBPyConnection, path: Path) -> None:
        """Write the file.

        Args:
            rows: a query for all rows of the relation that is read, executed and not yet fetched.
            path: the file to write.
        """


class Maker(NamedTuple):
    """The relation that is read, and the function that derives another from it, imported when it is needed.

    Where `of_texts`, there are no rows unless a run's candidates are texts.
    """

    reads: str
    module: str
    function: str
    of_texts: bool = False

    def writer(self) -> Writer:
        """The function."""
        return cast(Writer, getattr(importlib.import_module(self.module), self.function))


MAKERS: Final = {
    "findings": Maker("critic_answers", "audit.python_models.findings", "write_nothing"),
    "mentions": Maker("critic_answers", "audit.python_models.answers", "write_mentions"),
    "shown_mentions": Maker("answers_to_several", "audit.python_models.answers", "write_mentions"),
    "associations": Maker("citing_by_run", "audit.python_models.associations", "write_associations"),
    "association_tests": Maker("citing_by_run", "audit.python_models.associations", "write_tests"),
    "noise": Maker("revision_returns", "audit.python_models.noise", "write_noise"),
    "imitations": Maker("imitable_texts", "audit.python_models.texts", "write_imitations", of_texts=True),
    "positions": Maker("shown_items", "audit.python_models.positions", "write_positions"),
    "interventions": Maker("plans", "audit.interventions.relations", "write_interventions"),
    "intervention_units": Maker("plans", "audit.interventions.relations", "write_units"),
    "intervention_effects": Maker("plans", "audit.interventions.relations", "write_effects"),
    "text_edits": Maker("revised_texts", "audit.python_models.texts", "write_text_edits", of_texts=True),
    "controls": Maker("start_counts", "audit.python_models.controls", "write_controls"),
}
