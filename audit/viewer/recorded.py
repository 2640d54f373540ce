"""What is known of a revision beside its record: the prompt, the simulated critic's truth, labels; a run's set-up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.output.escaping import in_line, visible
from audit.sources.prompts import prompts_beside, released_prompt_in
from audit.validation.calibration.truth import NAME, truths_in
from audit.validation.coding.labels import as_written
from audit.vocabulary.keys import RevisionKey
from collector.system.regular_files import RUN, read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from audit.validation.coding.filling import Filling

SET_UP: Final = ("options", "switches", "versions", "method")
"""Objects of `run.json` that are shown."""


def recorded_beside(key: RevisionKey, file: str) -> dict[str, Any]:
    """The prompt and the truth of a revision; null where they are not recorded.

    Args:
        key: the revision.
        file: of its record. Archives and packs have neither.
    """
    folder = Path(file).parent
    prompt = prompts_beside(Path(file)).get(key.iteration) or released_prompt_in(folder)
    return {"prompt": None if prompt is None else visible(prompt), "truth": _truth(folder, key)}


def labels_of(coding: Filling | None, key: RevisionKey) -> list[dict[str, Any]] | None:
    """The codes that coders gave to a revision; None until all coders are done, since they code blind.

    Args:
        coding: the file of labels, if one was named.
        key: the revision.

    Raises:
        AuditError: the file cannot be read.
    """
    coders = {} if coding is None else coding.by_coder()
    if any(rows.done < len(rows.rows) for rows in coders.values()):
        return None
    names = {key, as_written(key)}
    return [
        {"coder": in_line(coder), "codes": dict(row.label.codes), "note": in_line(row.label.note or "")}
        for coder, rows in coders.items()
        for row in rows.rows
        if row.label.identity in names
    ]


def description_beside(file: Path) -> dict[str, str]:
    """How a run was set up, as its `run.json` states it: names with values, both in one line; empty without the file.

    Args:
        file: of its records.
    """
    try:
        description = msgspec.json.decode(read_regular(file.parent / "run.json", RUN))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    if not isinstance(description, dict):
        return {}
    found = {name: description[name] for name in SET_UP if isinstance(description.get(name), dict)}
    return {
        in_line(f"{name}: {key}"): in_line(value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, values in found.items()
        for key, value in values.items()
        if value is not None
    }


def _truth(folder: Path, key: RevisionKey) -> Mapping[str, Any] | None:
    found = None
    for truth in truths_in(folder / NAME, []):
        if RevisionKey(truth.condition, truth.env, truth.variant, truth.run, truth.iteration) == key:
            found = truth
    if found is None:
        return None
    return {
        "personality": in_line(found.personality),
        "driver": in_line(found.driver),
        "mentioned": found.mentioned and in_line(found.mentioned),
        "discounts_worst": found.discounts_worst,
    }
