"""What packs carry beside their records: relations that are functions of them, each as a column of structs.

A row of a pack is a record, and has what was found in it as well. So whoever reads a relation reads its columns alone,
joins nothing, and leaves the texts where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from audit.engine.catalog import BATCHED, schema

LEVELS: Final = {"none": (), "word": ("word",), "all": ("word", "resolved")}
"""How much a pack carries: the detectors whose findings are in it; with the last two what they read as well."""

KEYS: Final = "condition, env, variant, run, iteration"


class Carried(NamedTuple):
    """A relation as packs carry it.

    Attributes:
        relation: its name.
        detector: the one whose findings it has; None where it depends on none.
        in_full: whether only the level `all` has it.
        of_run: whether a row depends on other iterations of its run.
        of_thresholds: whether it depends on the thresholds of edit patterns.
        is_list: whether a revision has any number of rows.
    """

    relation: str
    detector: str | None = None
    in_full: bool = False
    of_run: bool = False
    of_thresholds: bool = False
    is_list: bool = False

    @property
    def column(self) -> str:
        """The column of a pack."""
        return f"found_{self.relation}" if self.detector is None else f"found_{self.relation}_{self.detector}"

    @property
    def type(self) -> str:
        """The type of the column. Whether a row is there is a field of its own, so that no other is read to know it."""
        types = schema()[self.relation]["types"].split(", ")
        fields = ", ".join(f"{name} {kind}" for name, kind in zip(self.names, types, strict=True))
        return f"struct({fields})[]" if self.is_list else f"struct(there boolean, {fields})"

    @property
    def names(self) -> list[str]:
        """The names of the fields: its columns, those of `KEYS` aside."""
        return [f'"{name}"' for name in schema()[self.relation]["columns"] if name not in KEYS.split(", ")]

    @property
    def is_there(self) -> str:
        """The condition for a row of a pack to have any of it."""
        return f'len("{self.column}") > 0' if self.is_list else f'"{self.column}".there'

    def gathered(self, source: str) -> str:
        """A query for the column, by revision.

        Args:
            source: the relation, as the FROM clause names it.
        """
        if self.is_list:
            fields = ", ".join(f"{name}: {name}" for name in self.names)
            value = f"list({{{fields}}} order by part, ordinal)::{self.type}"
            return f'select {KEYS}, {value} as "{self.column}" from {source} group by all'
        fields = ", ".join(f"{name}: {name}" for name in ("there", *self.names))
        return (
            f'select {KEYS}, {{{fields}}}::{self.type} as "{self.column}" from (select *, true as there from {source})'
        )

    def read(self, packs: str) -> str:
        """A query for the relation.

        Args:
            packs: what the FROM clause names.
        """
        if self.is_list:
            fields = ", ".join(f"each.{name} as {name}" for name in self.names)
            return f'select {KEYS}, {fields} from (select {KEYS}, unnest("{self.column}") as each from {packs})'
        fields = ", ".join(f'"{self.column}".{name} as {name}' for name in self.names)
        return f"select {KEYS}, {fields} from {packs} where {self.is_there}"


CARRIED: Final = (
    Carried("changes"),
    Carried("evidence"),
    Carried("iterations", of_run=True),
    Carried("text_edits"),
    Carried("patterns", of_run=True, of_thresholds=True),
    Carried("references", "word"),
    Carried("salience_criteria", "word"),
    Carried("noise", in_full=True),
    Carried("mentions", in_full=True, is_list=True),
    Carried("references", "resolved", in_full=True),
    Carried("salience_criteria", "resolved", in_full=True),
)
"""All that a pack can carry, in the order of its columns."""

IN_PARTS: Final = BATCHED | {each.relation for each in CARRIED}
"""Relations whose rows may be in files already."""


def carried_at(level: str) -> list[Carried]:
    """What packs of a level carry."""
    return [] if level == "none" else [each for each in CARRIED if level == "all" or not each.in_full]


def carried_as(relation: str, detector: Sequence[str], *, has_thresholds: bool) -> Carried | None:
    """How packs carry a relation under some options; None where they do not.

    Args:
        relation: its name.
        detector: the key of the detector in use.
        has_thresholds: whether the user has set thresholds.
    """
    for each in CARRIED:
        is_fit = each.detector is None or list(detector) == [each.detector, "worst", ""]
        if each.relation == relation and is_fit and not (each.of_thresholds and has_thresholds):
            return each
    return None


class Parts(NamedTuple):
    """Where the rows of a relation are.

    Attributes:
        files: Parquet files of the relation itself.
        packs: those which carry it.
        carried: how they do.
        without: runs (condition, env, variant, run) whose rows in packs are not taken.
    """

    files: Sequence[Path] = ()
    packs: Sequence[Path] = ()
    carried: Carried | None = None
    without: Sequence[dict[str, object]] = ()

    def query(self, name: str) -> str:
        """A query for all rows, which reads the variables `<name>_parts`, `<name>_packs` and `<name>_without`."""
        queries = []
        if self.files:
            queries.append(f"select * from read_parquet(getvariable('{name}_parts'))")
        if self.packs and self.carried is not None:
            found = self.carried.read(f"read_parquet(getvariable('{name}_packs'))")
            if self.without:
                runs = f"(select unnest(getvariable('{name}_without'), recursive := true))"
                found = f"select * from ({found}) anti join {runs} using (condition, env, variant, run)"
            queries.append(found)
        return " union all by name ".join(queries)
