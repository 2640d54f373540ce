"""The mapping: which column of a log is which field of a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self

from audit.output.errors import UsageError
from audit.vocabulary.thresholds import presets
from collector.records import CandidateKind, SelectionRule, Thresholds

FILE, ROW = "@file", "@row"
"""Pseudo-columns: the number of the file among those given, from 1, and of the row in its file, from 0."""
PROMPT, ANSWER = "@prompt", "@answer"
"""Pseudo-columns of rows with `messages`: the text of the last answer of a model among them, and of what was asked."""
COUNTED: Final = {"run": 1, "iteration": 0, "rollout": 0}
"""What records count from."""

OF_SCORES: Final = frozenset({"tau_c", "optimum"})
"""Keys of `[run]` that are scores."""

Layout = Literal["csv", "jsonl", "parquet"]
Decimal = Literal[".", ","]
Range = tuple[float, float]
Parents = Literal["named", "previous"]
Direction = Literal["maximize", "minimize"]


@dataclass(frozen=True, kw_only=True)
class LogMapping:
    """A mapping, checked.

    Attributes:
        columns: the column of each field that the log has.
        constants: the value of each field that is the same in all rows.
        values: what values of a field are called here, by their names in the log.
        count_from: what the log counts runs, iterations and rollouts from.
        in_order: whether iterations are numbered in the order of their values, which may be times.
        candidates: what is revised: parameter vectors or texts.
        selection_rule: which candidate a method keeps, where that is known.
        parents: a row is a candidate: it revises the row that its field `parent` names, or the `previous` one that was
            kept; None where a row has both candidates.
        direction: whether higher or lower scores are better; None where the mapping does not state it.
        score_range: the lowest and the highest score that an example can have, where they are known.
        backend, model, options: who answered, for `run.json`.
        per_task: tau_c, optimum and step_size; each a number, or numbers by task.
        thresholds: of the edit patterns, by task.
        layout: csv, jsonl or parquet; None where the file's ending decides.
        delimiter: between the cells of a CSV file; None for a comma, or a tab in a file that ends in .tsv.
        separator: between the items of a list in a cell; None where lists are JSON.
        decimal: the mark before the decimals of a number in a cell; None where the numbers themselves show it.
        text: the file as it is.
    """

    columns: Mapping[str, str]
    constants: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Any]]
    count_from: Mapping[str, int]
    in_order: bool = False
    candidates: CandidateKind = "params"
    selection_rule: SelectionRule | None = None
    parents: Parents | None = None
    direction: Direction | None = None
    score_range: Range | None = None
    backend: str = "other"
    model: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    per_task: dict[str, float | Mapping[str, float]] = field(default_factory=dict)
    thresholds: Mapping[str, Thresholds] = field(default_factory=dict)
    layout: Layout | None = None
    delimiter: str | None = None
    separator: str | None = None
    decimal: Decimal | None = None
    text: str = ""

    def has(self, name: str) -> bool:
        """Whether the mapping has an entry for a field."""
        return name in self.columns or name in self.constants

    @property
    def is_text(self) -> bool:
        """Whether texts are revised, which have no thresholds."""
        return self.candidates == "text"

    @property
    def is_cost(self) -> bool:
        """Whether lower scores are better: records have their negatives, so that higher is better everywhere."""
        return self.direction == "minimize"

    def directed(self, direction: Direction | None) -> Self:
        """The mapping with a direction that goes before its own, and what it states of scores negated for costs.

        Raises:
            UsageError: the mapping has something that cannot be negated.
        """
        stated = replace(self, direction=direction or self.direction)
        if not stated.is_cost:
            return stated
        if self.has("evidence.statistics"):
            raise UsageError(
                "evidence.statistics are of scores as logged; leave them out where lower scores are better"
            )
        low, high = self.score_range or (0.0, 0.0)
        return replace(
            stated,
            score_range=self.score_range and (0.0 - high, 0.0 - low),
            per_task=self.per_task | {name: _negated(self.per_task[name]) for name in OF_SCORES & self.per_task.keys()},
        )

    def of_task(self, name: str, env: str) -> float | None:
        """A number of `run.json` that may depend on the task."""
        value = self.per_task.get(name)
        return value.get(env) if isinstance(value, Mapping) else value


def _negated(value: float | Mapping[str, float]) -> float | dict[str, float]:
    return {env: 0.0 - each for env, each in value.items()} if isinstance(value, Mapping) else 0.0 - value


def unknown_task(env: str, mapping: LogMapping) -> str | None:
    """Why a task cannot be audited: it has no thresholds, where parameters need them."""
    if mapping.is_text or env in presets() or env in mapping.thresholds:
        return None
    return (
        f"env {env!r} is not a task known here; give its edit patterns in [thresholds.{env}], or [run] candidates = "
        "'text' if prompts or programs are revised"
    )
