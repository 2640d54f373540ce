"""Which packs' findings are believed: those found by this version's rules, in columns of the right types.

Findings from elsewhere can still be wrong on purpose; `audit check --findings` compares them with the records.
"""

from __future__ import annotations

import duckdb

from audit.engine.carried import CARRIED
from audit.ingest.version import findings_version
from audit.output.errors import count
from audit.remote.urls import shown
from audit.sources.intake import Intake
from audit.sources.pack import types_of


def believed(intake: Intake) -> dict[str, frozenset[str]]:
    """The columns of findings that can be used, by pack; notes what cannot.

    Args:
        intake: knows the packs, and takes the notes.
    """
    found: dict[str, frozenset[str]] = {}
    older: list[str] = []
    for pack, findings in intake.carriers.items():
        if findings.version != findings_version():
            older.append(shown(pack))
        elif (columns := _sound(pack, findings.columns)) is None:
            intake.notes.append(f"{shown(pack)}: its findings are not in the form of this version, and are found anew")
        else:
            found[pack] = columns
    if older:
        what = older[0] if len(older) == 1 else f"{count(len(older), 'pack')} such as {older[0]}"
        intake.notes.append(
            f"{what}: what it carries was found by other rules than this version's, and is found anew; pack again"
        )
    return found


def _sound(pack: str, columns: list[str]) -> frozenset[str] | None:
    """The columns, if this version knows each and all have their types."""
    expected = {each.column: duckdb.dtype(each.type) for each in CARRIED}
    try:
        types = types_of(pack)
    except duckdb.Error:
        return None
    is_sound = all(column in expected and types.get(column) == expected[column] for column in columns)
    return frozenset(columns) if is_sound else None
