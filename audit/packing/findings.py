"""What was found in the records of a pack that is being made, to be carried in it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from audit.detectors.loading import load_detector
from audit.engine.carried import KEYS, LEVELS, Carried, Parts, carried_at
from audit.engine.database import Database
from audit.ingest.batches import Batches
from audit.ingest.cache import Cache
from audit.ingest.columns import describe, show
from audit.ingest.options import Options
from audit.ingest.readings import Readings
from audit.sources.intake import Intake


def write_findings(
    intake: Intake, readings: Readings, cache: Cache | None, level: str, resources: contextlib.ExitStack
) -> dict[str, Path]:
    """Find all that packs of a level carry, as Parquet files by column, each with the columns of a revision's key.

    Args:
        intake: the records.
        readings: where they are in columns.
        cache: holds what was found before.
        level: of `LEVELS`.
        resources: keeps temporary files until it is closed.
    """
    directory = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="findings-", dir=intake.directory)))
    found: dict[str, Path] = {}
    made: dict[str, Path] = {}
    for detector in LEVELS[level]:
        options = Options(load_detector(detector))
        batches = Batches(intake, readings, cache, options)
        own = directory / detector
        own.mkdir()
        with contextlib.closing(Database(own)) as database:
            # What depends on no detector is there from the one before.
            def parts(name: str, batches: Batches = batches) -> Parts | None:
                return Parts([made[name]]) if name in made else batches.parts(name) if cache is not None else None

            database.take_parts(parts)
            describe(intake, database)
            show(readings, intake, database)
            options.set(database, own)
            for carried in carried_at(level):
                if carried.detector not in (None, detector) or carried.column in found:
                    continue
                path = directory / f"{carried.column}.parquet"
                if carried.detector is None and len(LEVELS[level]) > 1:
                    whole = directory / f"{carried.relation}.whole"
                    database.write(carried.relation, whole)
                    made[carried.relation] = whole
                database.write_query(carried.gathered(f'"{carried.relation}"'), path)
                found[carried.column] = path
    return found


def without(columns: Sequence[Carried]) -> str:
    """A query for the relation `packed` with all columns of a pack, of which it has no findings."""
    plain = (
        "line, bytes, initial, revised, revision_status, selected, evidence, seconds, error, tau_c, restrained, "
        "answers, acceptance, origin, defect"
    )
    names = "".join(f', null::{each.type} as "{each.column}"' for each in columns)
    return f"select place, number, {KEYS}{names}, {plain} from packed order by place, number"
