"""The candidates before and after a revision: columns of one shape whose names differ in their words for the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from audit.importing.guessing import names
from audit.importing.guessing.columns import LISTS, Column
from audit.importing.guessing.draft import ROLES, Guess
from audit.output.errors import shortened

Pair: TypeAlias = tuple[Column, Column]
CLOSE: Final = 5.1e-5
"""Relative difference that a stated mean may have from the mean of its scores."""
MOST: Final = 12
"""Possible pairs that are listed."""


def find_candidates(draft: Guess) -> None:
    """Find texts or parameters, and scores."""
    groups: dict[str, dict[frozenset[str], dict[str, list[Column]]]] = {}
    for column in draft.free():
        role, rest = _role(draft, column)
        if (field := _field(column, rest)) is not None:
            groups.setdefault(field, {}).setdefault(rest, {}).setdefault(role, []).append(column)
    found = {field: _pairs(each) for field, each in groups.items()}
    for name, question in (("text", "Which texts are revised?"), ("params", "Which lists are revised?")):
        if not any(stated.split(".")[1:2] == [name] for stated in draft.given):
            _decide(draft, name, question, *found.get(name, ([], [])))
    if not {"initial.returns", "initial.mean_return"} & draft.given.keys():
        _scores(draft, found)
    for role in ROLES:
        _examples(draft, role)


def _role(draft: Guess, column: Column) -> tuple[str, frozenset[str]]:
    """Which candidate a name is about, if it shows that, and the rest of its words."""
    before = column.words & (names.INITIAL | set(draft.by_tool("before")))
    after = column.words & (names.REVISED | set(draft.by_tool("after")))
    if before and after:
        before, after = before - names.SOFT, after - names.SOFT
    rest = column.words - before - after
    if bool(before) != bool(after):
        return "initial" if before else "revised", rest
    last = frozenset(names.words_of(column.path)[-1:])
    # A number means before or after for certain in a list of both, such as `prompt_before_after`.
    for role, either in zip(ROLES if before else ("first", "second"), names.EITHER, strict=True):
        if last & either:
            return role, rest - either
    return "plain", rest


def _field(column: Column, rest: frozenset[str]) -> str | None:
    """Which field of candidates a column may be by its shape and its words; or `lists`, or `costs`."""
    if column.is_scalar:
        is_score, is_cost = rest & names.SCORES, rest & names.COSTS
        return None if rest & names.MEASURES else "costs" if is_cost else "mean_return" if is_score else None
    if column.shape in LISTS:
        if rest & (names.SCORES | names.COSTS):
            return "costs" if rest & names.COSTS else "returns"
        return "params" if rest & names.PARAMETERS else None if rest & names.IDS else "lists"
    is_text = not rest & names.NO_TEXTS and (not rest or rest & names.TEXTS)
    return "text" if column.shape in ("text", "texts") and is_text else None


def _pairs(groups: Mapping[frozenset[str], Mapping[str, list[Column]]]) -> tuple[list[Pair], list[Pair]]:
    """The pairs that names show, and those that are merely possible."""
    sure: list[Pair] = []
    possible: list[Pair] = []
    every: dict[str, list[Column]] = {}
    for roles in groups.values():
        initial, revised, plain = (roles.get(role, []) for role in ("initial", "revised", "plain"))
        before, after = initial or plain, revised
        if initial and not revised:
            before, after = [column for column in initial if not column.words & names.STARTS], plain
        pairs = [(one, other) for one in before for other in after]
        (sure if len(pairs) == 1 else possible).extend(pairs)
        either = [(one, other) for one in roles.get("first", []) for other in roles.get("second", [])]
        possible += [*either, *((other, one) for one, other in either)]
        for role, columns in roles.items():
            every.setdefault(role, []).extend(columns)
    if not sure and not possible and (every.get("initial") or every.get("revised")):
        befores, afters = (every.get(role) or every.get("plain", []) for role in ROLES)
        pairs = [(one, other) for one in befores for other in afters if one.shape == other.shape or one.is_scalar]
        is_sure = len(pairs) == 1 and all(map(every.get, ROLES)) and not pairs[0][0].words & names.STARTS
        return (pairs, []) if is_sure else ([], pairs)
    return sure, possible


def _decide(draft: Guess, name: str, question: str, sure: list[Pair], possible: list[Pair]) -> None:
    """Take the only pair, or ask which of several it is."""
    if len(sure) == 1 and not possible:
        reason = f"of {sure[0][0].path!r} and {sure[0][1].path!r} the names are those of before and after"
        for role, column in zip(ROLES, sure[0], strict=True):
            draft.take(f"{role}.{name}", column, reason)
    elif sure or possible:
        draft.ask(f"initial.{name}", question, [_fields(name, pair) for pair in [*sure, *possible][:MOST]])


def _fields(name: str, pair: Pair) -> dict[str, str]:
    return {f"{role}.{name}": column.path for role, column in zip(ROLES, pair, strict=True)}


def _scores(draft: Guess, found: Mapping[str, tuple[list[Pair], list[Pair]]]) -> None:
    """Scores of examples where there are any, else mean scores."""
    returns, means, lists, costs = (found.get(name, ([], [])) for name in ("returns", "mean_return", "lists", "costs"))
    if returns[0] or (returns[1] and not means[0]):
        _decide(draft, "returns", "Which scores are compared?", *returns)
        scored = [draft.column(f"{role}.returns") for role in ROLES]
        for pair in means[0]:
            if all(scores and _is_mean(mean, scores) for mean, scores in zip(pair, scored, strict=True)):
                for role, column in zip(ROLES, pair, strict=True):
                    draft.take(f"{role}.mean_return", column, "in every row the mean of the scores of the examples")
    elif any(means):
        _decide(draft, "mean_return", "Which scores are compared?", *means)
    elif any(lists):
        options = [_fields(name, pair) for pair in (*lists[0], *lists[1]) for name in ("returns", "params")]
        draft.ask("initial.returns", "Are these lists scores of examples, or parameters?", options)
    else:
        text = "Which columns have the scores before and after a revision?"
        numbers = [column.path for column in draft.free() if column.is_scalar or column.shape in LISTS]
        if numbers:
            text += f" Numbers are in {', '.join(shortened(numbers))}."
        if any(costs):
            path = (*costs[0], *costs[1])[0][0].path
            text += f" By its name, of {path!r} the lower is better: state its columns, and run.direction=minimize."
        draft.ask("initial.mean_return", text, [])


def _is_mean(column: Column, scores: Column) -> bool:
    """Whether a number is the mean of a list in every row that has it."""
    pairs = [(column.mean(row), scores.mean(row)) for row in range(len(column.values))]
    return all(
        mean is not None and abs(one - mean) <= CLOSE * max(1.0, abs(one)) for one, mean in pairs if one is not None
    )


def _examples(draft: Guess, role: str) -> None:
    """The ids of the examples that the scores of a candidate are of."""
    scores = draft.column(f"{role}.returns")
    found = []
    for column in draft.log.columns.values():
        of, rest = _role(draft, column)
        if scores and of in (role, "plain") and rest & names.IDS and _are_ids(column, scores):
            found.append(column)
    found = [column for column in found if "id" in column.words] or found
    if len({repr(column.values) for column in found}) == 1:
        draft.take(f"{role}.example_ids", found[0], "as many different entries as there are scores, in every row")
    elif found:
        options = [{f"{role}.example_ids": column.path} for column in found]
        draft.ask(f"{role}.example_ids", "Which are the ids of the examples?", options, needed=False)


def _are_ids(column: Column, scores: Column) -> bool:
    return column.shape in ("names", "numbers") and all(
        ids is not None and len(ids) == len(of) == len(set(ids)) and all(type(item) in (str, int) for item in ids)
        for ids, of in zip(column.values, scores.values, strict=True)
        if of is not None
    )
