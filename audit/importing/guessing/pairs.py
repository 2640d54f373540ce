"""Which columns are the candidates before and after: their texts, parameters, scores and examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audit.importing.guessing.chains import direction_of
from audit.importing.guessing.columns import LISTS, NUMERIC, WRITTEN, Column, score_of
from audit.importing.guessing.draft import Draft
from audit.importing.guessing.words import (
    ANSWERS,
    COSTS,
    IDS,
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

CLOSE: Final = 5.1e-5
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


def pair_up(draft: Draft, runs: Sequence[Sequence[int]]) -> None:
    """Find the candidates of a log; `runs` are the rows of each run, in the order of its iterations."""
    pairs = _pairs(draft, runs)
    written = [pair for pair in pairs if pair.initial.shape in WRITTEN and _is_text(pair.rest)]
    _texts(draft, written)
    lists = [pair for pair in pairs if pair.initial.shape in LISTS]
    _parameters(draft, [pair for pair in lists if pair.rest & PARAMETERS and not pair.rest & SCORES])
    _scores(draft, lists, [pair for pair in pairs if _is_scalar(pair.initial) and not pair.rest & MEASURES])
    _examples(draft)


def _is_text(rest: frozenset[str]) -> bool:
    return not rest & {*ANSWERS, *THINKING, *OTHER_TEXTS} and (not rest or bool(rest & TEXTS))


def _is_scalar(column: Column) -> bool:
    words = column.shape == "text" and all(score_of(value) is not None for value in column.distinct())
    return column.shape in NUMERIC or words


def _family(column: Column) -> str | None:
    if _is_scalar(column):
        return "scalar"
    for family, shapes in (("written", WRITTEN), ("lists", LISTS), ("names", {"names"})):
        if column.shape in shapes:
            return family
    return None


def _role(words: tuple[str, ...]) -> tuple[str, frozenset[str]]:
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


def _pairs(draft: Draft, runs: Sequence[Sequence[int]]) -> list[Pair]:
    groups: dict[tuple[str, frozenset[str]], dict[str, list[Column]]] = {}
    for column in draft.free():
        family = _family(column)
        role, rest = _role(column.words)
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
    if column.shape in WRITTEN and _is_text(rest):
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


def _take(draft: Draft, name: str, pair: Pair, reason: str = "") -> None:
    for role, column in zip(ROLES, (pair.initial, pair.revised), strict=True):
        draft.take(f"{role}.{name}", column, reason or pair.reason)


def _texts(draft: Draft, pairs: list[Pair]) -> None:
    if any(name.split(".")[1:2] == ["text"] for name in draft.given) or not pairs:
        return
    if len(pairs) == 1:
        _take(draft, "text", pairs[0])
        return
    rests = ["_".join(word for word in pair.initial.words if word in pair.rest) for pair in pairs]
    if len(set(rests)) == len(rests) and all(rests):
        for rest, pair in zip(rests, pairs, strict=True):
            _take(draft, f"text.{rest}", pair)
        return
    draft.ask("initial.text", "Which texts are revised?", {_arrow(pair): pair.fields("text") for pair in pairs})


def _parameters(draft: Draft, pairs: list[Pair]) -> None:
    if len(pairs) == 1:
        _take(draft, "params", pairs[0])
    elif pairs:
        draft.ask("initial.params", "Which lists are revised?", {_arrow(pair): pair.fields("params") for pair in pairs})


def _arrow(pair: Pair) -> str:
    return f"{pair.initial.path} → {pair.revised.path}"


def _scores(draft: Draft, lists: list[Pair], scalars: list[Pair]) -> None:
    """Scores of examples where there are any, else mean scores."""
    if any(f"initial.{name}" in draft.given for name in ("returns", "mean_return")):
        return
    scored = [pair for pair in lists if pair.rest & SCORES and not pair.rest & COSTS]
    unnamed = [pair for pair in lists if not pair.rest & (SCORES | COSTS | PARAMETERS | set(IDS))]
    named = [pair for pair in scalars if pair.rest & SCORES and not pair.rest & COSTS]
    if len(scored) == 1:
        _take(draft, "returns", scored[0])
        for pair in named:
            if _is_mean(pair, scored[0]):
                _take(draft, "mean_return", pair, "in every row the mean of the scores of the examples")
                break
        return
    if scored:
        draft.ask(
            "initial.returns", "Which scores are compared?", {_arrow(pair): pair.fields("returns") for pair in scored}
        )
    elif unnamed and not named:
        options = {}
        for pair in unnamed:
            options[f"scores: {_arrow(pair)}"] = pair.fields("returns")
            options[f"parameters: {_arrow(pair)}"] = pair.fields("params")
        draft.ask("initial.returns", "Are these lists scores of examples, or parameters?", options)
    elif len(named) == 1:
        _take(draft, "mean_return", named[0])
    elif named:
        options = {_arrow(pair): pair.fields("mean_return") for pair in named}
        draft.ask("initial.mean_return", "Which scores are compared?", options)
    else:
        _no_scores(draft, [pair for pair in (*lists, *scalars) if pair.rest & COSTS])


def _is_mean(pair: Pair, scored: Pair) -> bool:
    """Whether a number is the mean of a list in every row."""
    for number, of in ((pair.initial, scored.initial), (pair.revised, scored.revised)):
        for row in range(len(number.values)):
            stated, mean = number.mean(row), of.mean(row)
            if stated is not None and (mean is None or abs(stated - mean) > CLOSE * max(1.0, abs(stated))):
                return False
    return True


def _no_scores(draft: Draft, costs: list[Pair]) -> None:
    """There are no scores to be found; say what there is."""
    if costs:
        pair = costs[0]
        draft.ask(
            "initial.mean_return",
            f"By its name, of {pair.initial.path!r} the lower is better, where of scores the higher is; write a column "
            "with its negative into the log",
            {},
        )
        return
    numbers = [column for column in draft.free() if column.shape in NUMERIC | LISTS]
    options = {}
    for before in numbers[:6]:
        for after in numbers[:6]:
            if before is not after and before.shape == after.shape and before.words != after.words:
                name = "returns" if before.shape in LISTS else "mean_return"
                options[f"{before.path} → {after.path}"] = {
                    f"initial.{name}": before.path,
                    f"revised.{name}": after.path,
                }
    draft.ask("initial.mean_return", "Which columns have the scores before and after a revision?", options)


def _examples(draft: Draft) -> None:
    """The ids of the examples that the scores are of."""
    if "initial.example_ids" in draft.given:
        return
    scores = {role: draft.column(f"{role}.returns") for role in ROLES}
    found: dict[str, list[Column]] = {role: [] for role in ROLES}
    for column in draft.free():
        role, rest = _role(column.words)
        if column.shape not in ("names", "numbers") or not rest & set(IDS):
            continue
        for each in ROLES:
            if role in (each, "plain") and _are_ids(column, scores[each]):
                found[each].append(column)
    for role, columns in found.items():
        columns.sort(key=lambda column: "id" not in column.words)
        ties = [column for column in columns if ("id" in column.words) == ("id" in columns[0].words)]
        if len({repr(column.values) for column in ties}) == 1:
            draft.take(f"{role}.example_ids", columns[0], "as many different entries as there are scores, in every row")
        elif ties:
            options = {column.path: {f"{role}.example_ids": column.path} for column in ties}
            draft.ask(
                f"{role}.example_ids",
                "Which are the ids of the examples?",
                {**options, "none": {f"{role}.example_ids": ""}},
            )


def _are_ids(column: Column, scores: Column | None) -> bool:
    if scores is None or scores.shape != "numbers":
        return False
    rows = [row for row in range(len(column.values)) if scores.values[row] is not None]
    ids = [column.values[row] for row in rows]
    return bool(rows) and all(
        each is not None
        and len(each) == len(scores.values[row]) == len(set(each))
        and all(isinstance(item, str) or (isinstance(item, int) and not isinstance(item, bool)) for item in each)
        for row, each in zip(rows, ids, strict=True)
    )
