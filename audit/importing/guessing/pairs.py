"""Columns that belong together: one about the candidates before a revision, one about those after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audit.importing.guessing.chains import direction_of
from audit.importing.guessing.columns import LISTS, NUMERIC, WRITTEN, Column, score_of
from audit.importing.guessing.draft import Draft
from audit.importing.guessing.words import (
    ANSWERS,
    INITIAL,
    MEASURES,
    OTHER_TEXTS,
    PARAMETERS,
    REVISED,
    SCORES,
    SOFT,
    STARTS,
    TEXTS,
    THINKING,
    WEAK,
)

ROLES: Final = ("initial", "revised")


@dataclass(frozen=True)
class Pair:
    """Two columns of the same shape and, but for the words for before and after, of the same name."""

    initial: Column
    revised: Column
    rest: frozenset[str]
    reason: str

    def fields(self, name: str) -> dict[str, str]:
        """What the user can state if this is a pair of fields."""
        return {f"initial.{name}": self.initial.path, f"revised.{name}": self.revised.path}


def is_text(rest: frozenset[str]) -> bool:
    """Whether the words of a name are those of a text that is revised."""
    return not rest & {*ANSWERS, *THINKING, *OTHER_TEXTS} and (not rest or bool(rest & TEXTS))


def is_scalar(column: Column) -> bool:
    """Whether a column has one number per row, or `pass` and the like."""
    words = column.shape == "text" and all(score_of(value) is not None for value in column.distinct())
    return column.shape in NUMERIC or words


def _family(column: Column) -> str | None:
    if is_scalar(column):
        return "scalar"
    for family, shapes in (("written", WRITTEN), ("lists", LISTS), ("names", {"names"})):
        if column.shape in shapes:
            return family
    return None


def role_of(words: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """Which candidate a name is about, if it shows that, and the rest of its words."""
    before, after = set(words) & INITIAL, set(words) & REVISED
    if before and after:
        before, after = before - SOFT, after - SOFT
    rest = frozenset(words) - before - after
    if before and after:
        for number, role in enumerate(ROLES):
            if words[-1] == str(number):
                return role, rest - {words[-1]}
    if bool(before) != bool(after):
        return "initial" if before else "revised", rest
    for role, weak in zip(ROLES, WEAK, strict=True):
        if words and words[-1] in weak:
            return f"weak {role}", rest - weak
    return "plain", rest


def pairs_of(draft: Draft, runs: Sequence[Sequence[int]]) -> list[Pair]:
    """All pairs; `runs` are the rows of each run, in the order of its iterations."""
    groups: dict[tuple[str, frozenset[str]], dict[str, list[Column]]] = {}
    for column in draft.free():
        family = _family(column)
        role, rest = role_of(column.words)
        if family is not None:
            groups.setdefault((family, rest), {}).setdefault(role, []).append(column)
    pairs = []
    for (family, rest), roles in groups.items():
        pairs += _of_group(draft, rest, roles)
        weak = [roles.get(f"weak {role}", []) for role in ROLES]
        if all(len(each) == 1 for each in weak):
            pairs += _weak(draft, weak[0][0], weak[1][0], rest, family, runs)
    used = {column.path for pair in pairs for column in (pair.initial, pair.revised)}
    pairs = [_turned(draft, pair, runs) for pair in pairs]
    pairs += _left_over(groups, used)
    inside = {pair.initial.path for pair in pairs if pair.initial.shape == "texts"}
    return [pair for pair in pairs if not any(pair.initial.path.startswith(f"{path}.") for path in inside)]


def _of_group(draft: Draft, rest: frozenset[str], roles: dict[str, list[Column]]) -> list[Pair]:
    """The pair of columns that differ only in their words for before and after."""
    initial, revised, plain = (roles.get(role, []) for role in ("initial", "revised", "plain"))
    if revised and not initial:
        befores, afters = plain, revised
    elif initial and not revised:
        befores, afters = [column for column in initial if not set(column.words) & STARTS], plain
    else:
        befores, afters = initial, revised
    if (len(befores) > 1 and len(afters) == 1) or (len(befores) == 1 and len(afters) > 1):
        _ask_which(draft, befores, afters, rest)
        return []
    if len(befores) != 1 or len(afters) != 1:
        return []
    before, after = befores[0], afters[0]
    return [Pair(before, after, rest, f"the names {before.path!r} and {after.path!r} differ only in before and after")]


def _ask_which(draft: Draft, befores: list[Column], afters: list[Column], rest: frozenset[str]) -> None:
    """Several columns may be the candidate before, or the one after."""
    if (name := _field_of(befores[0], rest)) is None:
        return
    options = {
        f"{before.path} → {after.path}": {f"initial.{name}": before.path, f"revised.{name}": after.path}
        for before in befores
        for after in afters
    }
    draft.ask(f"initial.{name}", f"Which columns have the {name} before and after a revision?", options)


def _field_of(column: Column, rest: frozenset[str]) -> str | None:
    if column.shape in WRITTEN and is_text(rest):
        return "text"
    if rest & SCORES and not rest & MEASURES:
        return "returns" if column.shape in LISTS else "mean_return"
    return "params" if rest & PARAMETERS and column.shape in LISTS else None


def _weak(
    draft: Draft, first: Column, second: Column, rest: frozenset[str], family: str, runs: Sequence[Sequence[int]]
) -> list[Pair]:
    """A pair whose names do not show which is before: the order of the rows may."""
    direction = direction_of(first, second, runs)
    if direction == "unknown":
        if (name := _field_of(first, rest) or ("text" if family == "written" and not rest else None)) is not None:
            options = {
                f"{before.path} → {after.path}": {f"initial.{name}": before.path, f"revised.{name}": after.path}
                for before, after in ((first, second), (second, first))
            }
            draft.ask(
                f"initial.{name}", f"Which of {first.path!r} and {second.path!r} is before the revision?", options
            )
        return []
    before, after = (first, second) if direction == "forward" else (second, first)
    reason = f"each row's {before.path!r} is one of the two in the row before"
    return [Pair(before, after, rest, reason)]


def _turned(draft: Draft, pair: Pair, runs: Sequence[Sequence[int]]) -> Pair:
    """Ask where the rows contradict the names."""
    name = _field_of(pair.initial, pair.rest)
    if pair.initial.shape in WRITTEN and name and direction_of(pair.initial, pair.revised, runs) == "backward":
        turned = Pair(pair.revised, pair.initial, pair.rest, "")
        draft.ask(
            f"initial.{name}",
            f"Is {pair.initial.path!r} before {pair.revised.path!r}, as their names are? The order of the rows shows "
            "the contrary",
            {"as the names": pair.fields(name), "as the rows": turned.fields(name)},
        )
    return pair


def _left_over(groups: dict[tuple[str, frozenset[str]], dict[str, list[Column]]], used: set[str]) -> list[Pair]:
    """Of each kind, one column before and one after whose names have nothing else in common."""
    kinds: dict[tuple[str, str], dict[str, list[tuple[Column, frozenset[str]]]]] = {}
    for (family, rest), roles in groups.items():
        for role, columns in roles.items():
            for column in columns:
                if column.path not in used and (name := _field_of(column, rest)):
                    kinds.setdefault((family, name), {}).setdefault(role, []).append((column, rest))
    pairs = []
    for (_, name), by_role in kinds.items():
        befores, afters = by_role.get("initial") or by_role.get("plain", []), by_role.get("revised", [])
        if len(befores) == len(afters) == 1 and befores[0][0].shape == afters[0][0].shape:
            (before, rest), (after, _) = befores[0], afters[0]
            if name != "text" and "initial" not in by_role and not _are_alike(before, after):
                continue
            reason = f"{after.path!r} has the {name} after, and only {before.path!r} can be the one before"
            pairs.append(Pair(before, after, rest, reason))
    return pairs


def _are_alike(before: Column, after: Column) -> bool:
    """Whether two columns are lists with equally many entries in every row."""
    rows = [each for each in zip(before.values, after.values, strict=True) if None not in each]
    return before.shape == "numbers" and all(len(first) == len(second) for first, second in rows)
