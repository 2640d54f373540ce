"""The options that relations depend on beside the records: the detector and the thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from audit.detectors.detector import Detector
from audit.engine.database import Database
from audit.vocabulary.threshold_steps import around
from audit.vocabulary.thresholds import presets, text_preset


@dataclass(frozen=True)
class Options:
    """A detector, and thresholds of the edit patterns by task and name that override all others."""

    detector: Detector
    overrides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def key(self) -> dict[str, object]:
        """All that results depend on beside the records."""
        return {"detector": self.detector.key, "overrides": self.overrides}

    def key_of(self, relation: str) -> list[str]:
        """The part of it that a relation in `BATCHED` depends on."""
        return self.detector.key if relation in {"references", "findings"} else []

    def set(self, database: Database, directory: Path) -> None:
        """Set the variables and stand-ins of a database.

        Args:
            database: of which nothing is built yet.
            directory: for temporary files.
        """
        for variable, values in (("preset_file", presets()), ("override_file", self.overrides)):
            file = directory / f"{variable}.jsonl"
            rows = [{"env": env, **thresholds} for env, thresholds in values.items()]
            file.write_bytes(msgspec.json.Encoder().encode_lines(rows))
            database.set(variable, file)
        database.set("text_preset", text_preset())
        database.set("threshold_steps", around())
        for variable, value in self.detector.variables().items():
            database.set(variable, value)
        if self.detector.relation is not None:
            database.stand_in("references", self.detector.relation)
        if self.detector.function is not None:
            from audit.python_models.findings import writer_of

            database.write_with("findings", writer_of(self.detector.name, self.detector.function))
