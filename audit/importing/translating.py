"""A row of a log as a native record, checked field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any, Final

from audit.importing.chats import last_exchange, said
from audit.importing.evidence import evidence_of
from audit.importing.fields import (
    CANDIDATE,
    IDENTITY,
    SELECTION_RULES,
    FieldError,
    component_of,
    kind_of,
)
from audit.importing.mapping import ANSWER, COUNTED, FILE, ROW, Decimal, LogMapping, unknown_task
from audit.importing.names import Names
from audit.importing.rows import MISSING, Row, look_up
from audit.measures.rounding import sign_of_change
from collector.records import split_thinking

PRECISION: Final = 5.1e-5
"""Relative difference that a stated mean may have from that of its returns: logs often write four decimals."""
PER_ROLLOUT: Final = ("lengths", "seeds", "ended", "example_ids")
TEXT_ONLY: Final = ("text", "example_ids")
ANSWERS: Final = {f"{role}.answer": f"{role}.thinking" for role in ("initial", "revised")}

Record = dict[str, Any]

_SCORES: Final = frozenset(f"{role}.{name}" for role in ("initial", "revised") for name in ("returns", "mean_return"))


class RowError(ValueError):
    """A row that gives no record; the message names each field and what is wrong with it."""


class RepeatedError(RowError):
    """A row of an iteration that an earlier row has."""


class Translator:
    """Makes records of rows.

    Args:
        mapping: states which column is which field.
        is_text: whether cells are text, as in CSV.
        file: number of the file, from 1.
        decimal: the mark before the decimals of numbers in cells.
        names: what the rows of all files call their runs and iterations.

    Attributes:
        seen: columns that some row had.
    """

    def __init__(
        self,
        mapping: LogMapping,
        *,
        is_text: bool,
        names: Mapping[str, Names],
        file: int = 1,
        decimal: Decimal = ".",
    ) -> None:
        self.seen: set[str] = set()
        self._mapping = mapping
        self._is_text = is_text
        self._file = file
        self._decimal = decimal
        self._identities = names
        self._names = [*mapping.columns, *mapping.constants]
        self._constants = {name: kind_of(name).read(value) for name, value in mapping.constants.items()}

    def record(self, row: Row, number: int) -> Record:
        """The record that a row gives; `number` counts rows of the file from 0.

        Raises:
            RowError: the row is not valid.
        """
        return self.finish(*self.fields(row, number))

    def fields(self, row: Row, number: int) -> tuple[Record, list[str]]:
        """What a row states by field, and what is wrong with it.

        Raises:
            RowError: it is no row.
        """
        if row.fault is not None:
            raise RowError(row.fault)
        faults: list[str] = []
        return self._given(row, number, faults), faults

    def finish(self, given: Record, faults: list[str]) -> Record:
        """The record that fields give.

        Raises:
            RowError: they are not valid.
        """
        candidates = {
            role: _candidate(role, given, self._names, self._mapping, faults) for role in ("initial", "revised")
        }
        initial, revised = candidates["initial"], candidates["revised"]
        _align(initial, revised)
        record = {
            **self._identity(given, faults),
            "initial": initial,
            "revised": revised,
            "revision_status": _status(given, revised),
            "selected": _selected(given, self._mapping, initial, revised, faults),
            "evidence": evidence_of(given, self._mapping, faults),
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
                if name in self._identities:
                    given[name] = self._identities[name].read(given[name], given[name])
                continue
            value = look_up(row.cells, column)
            if value is not MISSING:
                self.seen.add(column)
            if name in ANSWERS:
                value, thinking = said(last_exchange(row.cells.get("messages"))[1] if column == ANSWER else value)
                given[ANSWERS[name]] = given.get(ANSWERS[name]) or thinking
            if value is MISSING or value is None or (self._is_text and value == ""):
                given[name] = given.get(name) if name in ANSWERS.values() else None
                continue
            try:
                given[name] = self._read(name, value, given)
            except FieldError as error:
                given[name] = None
                faults.append(f"{name} {error}")
        for name in [name for name in given if component_of(name)]:
            field, component = component_of(name) or ("", "")
            if (text := given.pop(name)) is not None:
                given[field] = {**(given.get(field) or {}), component: text}
        for name in _SCORES & given.keys() if self._mapping.is_cost else ():
            given[name] = _negated(given[name])
        return given

    def _read(self, name: str, value: Any, given: Record) -> Any:
        kind = kind_of(name)
        names = self._mapping.values.get(name)
        if names is not None and not kind.is_list:
            value = names.get(_spelt(value), value)
        if isinstance(value, str) and (self._is_text or kind.is_list):
            cell, value = value, kind.from_cell(value, self._mapping.separator, self._decimal)
        else:
            cell = value
        if name in self._identities:
            return self._identities[name].read(cell, value)
        if isinstance(value, dict) and name.endswith(".returns"):
            ids = name.replace(".returns", ".example_ids")
            if self._mapping.is_text and not self._mapping.has(ids):
                given[ids] = list(value)
            value = list(value.values())
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
        if env is not None and (unknown := unknown_task(env, self._mapping)):
            faults.append(unknown)
        return identity


def _align(initial: Record | None, revised: Record | None) -> None:
    """Put the revised candidate's scores in the order of the initial one's, if they are of the same examples."""
    before, after = (None if each is None else each.get("example_ids") for each in (initial, revised))
    if initial is None or revised is None or not before or not after or before == after:
        return
    if len(set(after)) == len(after) == len(revised["returns"] or ()) and set(before) == set(after):
        place = {name: number for number, name in enumerate(after)}
        order = [place[name] for name in before]
        for name in ("returns", *PER_ROLLOUT):
            if revised.get(name) is not None and len(revised[name]) == len(order):
                revised[name] = [revised[name][number] for number in order]


def _candidate(
    role: str, given: Mapping[str, Any], named: list[str], mapping: LogMapping, faults: list[str]
) -> Record | None:
    left_out = () if mapping.is_text else TEXT_ONLY
    candidate: Record = {name: given.get(f"{role}.{name}") for name in CANDIDATE if name not in left_out}
    if candidate["answer"] is not None:
        texts = (candidate.get("text") or {}).values()
        candidate["answer"], candidate["thinking"] = split_thinking(
            candidate["answer"], candidate["thinking"], proposed=texts
        )
    returns = candidate["returns"]
    faulty = {fault.partition(" ")[0] for fault in faults}
    made_of = ("params", "text", "returns", "mean_return")
    touched = any(fault.startswith(f"{role}.{name}") for fault in faulty for name in made_of)
    if role == "revised" and not touched and all(candidate.get(name) is None for name in made_of):
        return None
    unstated = ("parent" if mapping.is_text else "search") if role == "initial" else "critic"
    candidate["source"] = candidate["source"] or unstated
    faults.extend(_beyond(role, candidate, mapping))
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
        if len(candidate.get(name) or returns) != len(returns) or candidate.get(name) == []
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


def _beyond(role: str, candidate: Record, mapping: LogMapping) -> Iterator[str]:
    """Scores that cannot be, where the mapping states the range of scores."""
    if mapping.score_range is None:
        return
    low, high = mapping.score_range
    for place, score in enumerate(candidate["returns"] or ()):
        if not low <= score <= high:
            yield f"{role}.returns should be from {low} to {high}, [run] score_range, but item {place} is {score}"
            return


def _selected(
    given: Mapping[str, Any], mapping: LogMapping, initial: Record | None, revised: Record | None, faults: list[str]
) -> str:
    selected = given.get("selected") or (None if "selected" in mapping.columns else mapping.selection_rule)
    if revised is None and (selected is None or selected in SELECTION_RULES):
        return "initial"
    if selected is None:
        if not any(fault.startswith("selected ") for fault in faults):
            faults.append("selected is missing, and there are two candidates")
        return "initial"
    if selected not in SELECTION_RULES:
        return str(selected)
    if initial is None or revised is None or initial["mean_return"] is None or revised["mean_return"] is None:
        return "initial"
    scores = (*(initial["returns"] or ()), *(revised["returns"] or ()))
    change = sign_of_change(initial["mean_return"], revised["mean_return"], mapping.score_range, scores)
    is_cached = change > 0 if selected == "strict" else change >= 0 if selected == "better" else True
    return "revised" if is_cached else "initial"


def _contradictions(record: Record) -> list[str]:
    """Contradictions between fields that are each valid on their own."""
    initial, revised, status = record["initial"], record["revised"], record["revision_status"]
    found = []
    if initial is not None and revised is not None and initial["params"] and revised["params"]:
        before, after = len(initial["params"]), len(revised["params"])
        if before != after:
            found.append(f"revised.params has {after} entries where initial.params has {before}")
    if record["selected"] == "revised" and revised is None:
        found.append("selected is 'revised', and there is no revised candidate")
    if (status == "ok") != (revised is not None):
        there = "no revised candidate" if revised is None else "a revised candidate"
        found.append(f"revision_status is '{status}', and there is {there}")
    return found


def _negated(value: list[float] | float | None) -> list[float] | float | None:
    if isinstance(value, list):
        return [0.0 - score for score in value]
    return None if value is None else 0.0 - value


def _spelt(value: Any) -> str:
    """A value as the mapping's [values] names it: text as it is, true and false and numbers as JSON has them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
