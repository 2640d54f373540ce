"""A row of a log as a native record, checked field by field."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any, Final

import msgspec

from audit.importing.fields import BETTER, CANDIDATE, FIELDS, IDENTITY, SHOWN_LABELS, FieldError
from audit.importing.mapping import COUNTED, FILE, ROW, Decimal, LogMapping
from audit.importing.rows import MISSING, Row, look_up
from audit.importing.run_ids import RunIds
from audit.vocabulary.thresholds import presets

PRECISION: Final = 5.1e-5
"""Relative difference that a stated mean may have from that of its returns: logs often write four decimals."""
PER_ROLLOUT: Final = ("lengths", "seeds", "ended")

Record = dict[str, Any]


class RowError(ValueError):
    """A row that gives no record; the message names each field and what is wrong with it."""


class Translator:
    """Makes records of rows.

    Args:
        mapping: states which column is which field.
        is_text: whether cells are text, as in CSV.
        file: number of the file, from 1.
        decimal: the mark before the decimals of numbers in cells.
        run_ids: what the rows of all files name their runs by.

    Attributes:
        seen: columns that some row had.
    """

    def __init__(
        self, mapping: LogMapping, *, is_text: bool, run_ids: RunIds, file: int = 1, decimal: Decimal = "."
    ) -> None:
        self.seen: set[str] = set()
        self._mapping = mapping
        self._is_text = is_text
        self._file = file
        self._decimal = decimal
        self._run_ids = run_ids
        self._names = [*mapping.columns, *mapping.constants]
        self._constants = {name: FIELDS[name].read(value) for name, value in mapping.constants.items()}

    def record(self, row: Row, number: int) -> Record:
        """The record that a row gives; `number` counts rows of the file from 0.

        Raises:
            RowError: the row is not valid.
        """
        if row.fault is not None:
            raise RowError(row.fault)
        faults: list[str] = []
        given = self._given(row, number, faults)
        candidates = {role: _candidate(role, given, self._names, faults) for role in ("initial", "revised")}
        initial, revised = candidates["initial"], candidates["revised"]
        record = {
            **self._identity(given, faults),
            "initial": initial,
            "revised": revised,
            "revision_status": _status(given, revised),
            "selected": _selected(given, initial, revised, faults),
            "evidence": self._evidence(given, faults),
            "seconds": given.get("seconds"),
        }
        faults.extend(_contradictions(record))
        if faults:
            raise RowError("; ".join(faults))
        return record

    def _given(self, row: Row, number: int, faults: list[str]) -> Record:
        """The fields that a row fills; what it leaves empty is None."""
        given = dict(self._constants)
        for name, column in self._mapping.columns.items():
            if column in {FILE, ROW}:
                given[name] = self._file if column == FILE else number
                continue
            value = look_up(row.cells, column)
            if value is not MISSING:
                self.seen.add(column)
            if value is MISSING or value is None or (self._is_text and value == ""):
                given[name] = None
                continue
            try:
                given[name] = self._read(name, value)
            except FieldError as error:
                given[name] = None
                faults.append(f"{name} {error}")
        return given

    def _read(self, name: str, value: Any) -> Any:
        kind = FIELDS[name]
        names = self._mapping.values.get(name)
        if names is not None and not kind.is_list:
            value = names.get(_spelt(value), value)
        if isinstance(value, str) and (self._is_text or kind.is_list):
            cell, value = value, kind.from_cell(value, self._mapping.separator, self._decimal)
        else:
            cell = value
        if name == "run":
            return self._run_ids.read(cell, value)
        if names is not None and isinstance(value, list):
            value = [names.get(_spelt(item), item) for item in value]
        return kind.read(value)

    def _identity(self, given: Record, faults: list[str]) -> Record:
        faulty = {fault.partition(" ")[0] for fault in faults}
        faults.extend(f"{name} is missing" for name in IDENTITY if given[name] is None and name not in faulty)
        identity = {name: given[name] for name in IDENTITY}
        for name in ("run", "iteration"):
            if identity[name] is not None and not isinstance(identity[name], str):
                identity[name] += COUNTED[name] - self._mapping.count_from[name]
                if identity[name] < COUNTED[name]:
                    first = self._mapping.count_from[name]
                    faults.append(f"{name} is {given[name]}, and counts from {first}; [count_from] can change that")
        env = identity["env"]
        if env is not None and env not in presets() and env not in self._mapping.thresholds:
            faults.append(f"env {env!r} is not a task known here; give its edit patterns in [thresholds.{env}]")
        return identity

    def _evidence(self, given: Record, faults: list[str]) -> Record | None:
        first = self._mapping.count_from["rollout"]
        shown = [msgspec.to_builtins(item) for item in given.get("evidence.shown") or ()]
        for item in shown:
            if item["rollout"] is not None:
                item["rollout"] -= first
        shown += [
            {"label": label, "rollout": given[f"evidence.{label}"] - first}
            for label in SHOWN_LABELS
            if given.get(f"evidence.{label}") is not None
        ]
        returns, lengths = given.get("initial.returns"), given.get("initial.lengths")
        for item in shown:
            place = item["rollout"]
            if place is not None and not 0 <= place < (len(returns) if returns else place + 1):
                faults.append(f"evidence.{item['label']} is rollout {place + first}, and initial.returns has no such")
            elif place is not None and returns:
                item.setdefault("return", returns[place])
                item.setdefault("length", lengths[place] if lengths and place < len(lengths) else None)
        kind, statistics = given.get("evidence.kind"), given.get("evidence.statistics")
        if kind is None and (shown or statistics is not None):
            faults.append("evidence.kind is missing, and something was shown")
        return None if kind is None else {"kind": kind, "shown": shown, "statistics": statistics}


def _candidate(role: str, given: Mapping[str, Any], named: list[str], faults: list[str]) -> Record | None:
    candidate: Record = {name: given.get(f"{role}.{name}") for name in CANDIDATE}
    params, returns = candidate["params"], candidate["returns"]
    faulty = {fault.partition(" ")[0] for fault in faults}
    touched = any(f"{role}.{name}" in faulty for name in ("params", "returns", "mean_return"))
    if role == "revised" and not touched and params is returns is candidate["mean_return"] is None:
        return None
    candidate["source"] = candidate["source"] or ("search" if role == "initial" else "critic")
    for name in ("params", "returns"):
        field = f"{role}.{name}"
        if candidate[name] is None and field in named and field not in faulty:
            faults.append(f"{field} is missing")
        if candidate[name] == [] and not (name == "params" and candidate["source"] == "baseline"):
            faults.append(f"{field} is empty")
    if not returns:
        if candidate["mean_return"] is None and f"{role}.returns" not in named and not touched:
            faults.append(f"{role}.mean_return is missing")
        return candidate
    faults.extend(
        f"{role}.{name} has {len(candidate[name])} entries where {role}.returns has {len(returns)}"
        for name in PER_ROLLOUT
        if len(candidate[name] or returns) != len(returns) or candidate[name] == []
    )
    mean, stated = fmean(returns), candidate["mean_return"]
    if stated is not None and not abs(stated - mean) <= PRECISION * max(1.0, abs(stated)):
        faults.append(f"{role}.mean_return is {stated} where the mean of {role}.returns is {mean}")
    candidate["mean_return"] = mean
    return candidate


def _status(given: Mapping[str, Any], revised: Record | None) -> str:
    if given.get("revision_status") is not None:
        return str(given["revision_status"])
    if revised is not None:
        return "ok"
    return "none" if given.get("revised.answer") is None else "unreadable"


def _selected(given: Mapping[str, Any], initial: Record | None, revised: Record | None, faults: list[str]) -> str:
    selected = given["selected"]
    if revised is None and selected in {None, BETTER}:
        return "initial"
    if selected is None:
        if not any(fault.startswith("selected ") for fault in faults):
            faults.append("selected is missing, and there are two candidates")
        return "initial"
    if selected != BETTER:
        return str(selected)
    before, after = (None if candidate is None else candidate["mean_return"] for candidate in (initial, revised))
    return "revised" if before is not None and after is not None and after >= before else "initial"


def _contradictions(record: Record) -> list[str]:
    """Contradictions between fields that are each valid on their own."""
    initial, revised, status = record["initial"], record["revised"], record["revision_status"]
    found = []
    if revised is not None and initial["params"] and revised["params"]:
        before, after = len(initial["params"]), len(revised["params"])
        if before != after:
            found.append(f"revised.params has {after} entries where initial.params has {before}")
    if record["selected"] == "revised" and revised is None:
        found.append("selected is 'revised', and there is no revised candidate")
    if (status == "ok") != (revised is not None):
        there = "no revised candidate" if revised is None else "a revised candidate"
        found.append(f"revision_status is '{status}', and there is {there}")
    return found


def _spelt(value: Any) -> str:
    """A value as the mapping's [values] names it: text as it is, true and false and numbers as JSON has them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
