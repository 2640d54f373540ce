"""What is recorded of a revision beside its record: the exact prompt, and what the simulated critic really did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.output.escaping import in_line, visible
from audit.sources.prompts import prompts_beside, released_prompt_in
from audit.validation.calibration.truth import NAME, truths_in
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from collections.abc import Mapping


def recorded_beside(key: RevisionKey, file: str) -> dict[str, Any]:
    """The prompt and the truth of a revision; null where they are not recorded.

    Args:
        key: the revision.
        file: of its record. Archives and packs have neither.
    """
    folder = Path(file).parent
    prompt = prompts_beside(Path(file)).get(key.iteration) or released_prompt_in(folder)
    return {"prompt": None if prompt is None else visible(prompt), "truth": _truth(folder, key)}


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
