"""What is recorded of a revision beside its record: the exact prompt, and what the simulated critic really did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.output.errors import AuditError
from audit.output.escaping import in_line, visible
from audit.sources.prompts import prompts_beside, released_prompt_in
from audit.validation.calibration.truth import NAME, truths_in
from audit.vocabulary.keys import RevisionKey
from collector.records import Truth


class Beside:
    """What is beside records, read once for each file as long as its revisions follow each other.

    Args:
        with_prompts: whether prompts are read.
    """

    def __init__(self, *, with_prompts: bool = True) -> None:
        self._with_prompts = with_prompts
        self._file = Path()
        self._prompts: Mapping[int, str] = {}
        self._problem: str | None = None
        self._truths: Mapping[RevisionKey, Truth] = {}

    def of(self, key: RevisionKey, file: Path) -> dict[str, Any]:
        """The prompt and the truth of a revision, null where they are not recorded, and why prompts cannot be read.

        Args:
            key: the revision.
            file: of its record. Archives and packs have neither.
        """
        folder = file if file.is_dir() else file.parent  # the released code has a folder for each iteration
        if file != self._file:
            self._file = file
            self._truths = {
                RevisionKey(each.condition, each.env, each.variant, each.run, each.iteration): each
                for each in truths_in(folder / NAME, [])
            }
            self._prompts, self._problem = self._read(file)
        prompt = self._prompts.get(key.iteration) or (released_prompt_in(folder) if self._with_prompts else None)
        return {
            "prompt": None if prompt is None else visible(prompt),
            "prompt_problem": self._problem,
            "truth": _shown(self._truths.get(key)),
        }

    def _read(self, file: Path) -> tuple[Mapping[int, str], str | None]:
        """The prompts of a run; a revision is shown without its prompt where they cannot be read."""
        if not self._with_prompts:
            return {}, None
        try:
            return prompts_beside(file), None
        except AuditError as error:
            return {}, in_line(str(error))


def recorded_beside(key: RevisionKey, file: Path) -> dict[str, Any]:
    """The same of a single revision."""
    return Beside().of(key, file)


def _shown(truth: Truth | None) -> dict[str, Any] | None:
    if truth is None:
        return None
    return {
        "personality": in_line(truth.personality),
        "driver": in_line(truth.driver),
        "mentioned": truth.mentioned and in_line(truth.mentioned),
        "discounts_worst": truth.discounts_worst,
    }
