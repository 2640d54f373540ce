"""Trials and runs that did not finish, by the state that their tracker or tuner gives them: they are no candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from audit.importing.mapping import LogMapping
from audit.output.errors import count

FINISHED: Final = frozenset({"COMPLETE", "COMPLETED", "FINISHED", "SUCCEEDED", "SUCCESS", "DONE", "TERMINATED"})
"""States of a row that counts, if the mapping has a field `state`."""
UNFINISHED: Final = frozenset(
    {"PRUNED", "FAIL", "FAILED", "CRASHED", "KILLED", "RUNNING", "WAITING", "PENDING", "SCHEDULED", "PREEMPTED"}
    | {"PREEMPTING", "CANCELLED", "CANCELED", "ERROR", "ERRORED", "ABORTED", "TIMEOUT"}
)
"""States of a row that does not count, if the mapping has no such field."""
COLUMNS: Final = ("state", "status")
"""The columns that usually have the state."""
_UNNAMED: Final = "without a state"


def state_of(value: Any, names: Mapping[str, Any]) -> str:
    """The name of a state: `TrialState.COMPLETE`, `complete` and what [values.state] calls so are COMPLETE."""
    text = str(value).strip()
    name = str(names.get(text.removesuffix(".0"), text))
    return name.rpartition(".")[2].upper() or _UNNAMED


class Unfinished:
    """The rows that did not finish, counted by state.

    Args:
        mapping: of the log.
    """

    def __init__(self, mapping: LogMapping) -> None:
        self._mapping = mapping
        self._states: Counter[str] = Counter()
        self._columns: dict[str, None] = {}
        self._named: set[object] = set()

    def has(self, given: Mapping[str, Any], cells: Mapping[str, Any]) -> bool:
        """Whether a row did not finish; it is counted.

        Args:
            given: its fields.
            cells: its values by column.
        """
        column, state = self._find(given, cells)
        if state is None:
            return False
        self._states[state] += 1
        self._columns[column] = None
        self._named.add(given.get("candidate"))
        return True

    def is_named(self, candidate: object) -> bool:
        """Whether a candidate, by its name, did not finish."""
        return candidate in self._named

    def lines(self, rows: int) -> Iterator[str]:
        """How many of the rows are left out, in one line."""
        if self._states:
            states = ", ".join(f"{number} {state}" for state, number in self._states.most_common())
            columns = " and ".join(self._columns)
            hint = ""
            if not self._mapping.has("state"):
                hint = "; [constants] state = 'COMPLETE' in the mapping includes them"
            elif not self._states.keys() <= UNFINISHED | {_UNNAMED}:
                hint = "; [values.state] states what else means COMPLETE"
            number = f"{self._states.total()} of {count(rows, 'row')}"
            yield f"left out: {number}, which did not complete ({columns}: {states}){hint}"

    def _find(self, given: Mapping[str, Any], cells: Mapping[str, Any]) -> tuple[str, str | None]:
        """The column of the state, and the state where it is of a row that did not finish."""
        names = self._mapping.values.get("state", {})
        if self._mapping.has("state"):
            state = _UNNAMED if given.get("state") is None else state_of(given["state"], names)
            return self._mapping.columns.get("state", "state"), None if state in FINISHED else state
        mapped = set(self._mapping.columns.values())
        for column in cells:
            if column.casefold() in COLUMNS and column not in mapped:
                state = state_of(cells[column], names)
                if state in UNFINISHED:
                    return column, state
        return "", None
