"""What a mapping lacks for making records, and what in it does not go together."""

from __future__ import annotations

from collections.abc import Iterator

from audit.importing.fields import IDENTITY, PAIR_LABELS, SHOWN_LABELS
from audit.importing.mapping import LogMapping, unknown_task


def incomplete(mapping: LogMapping, meant: set[str], *, is_whole: bool) -> Iterator[str]:
    """Reasons why no record can be made with a mapping.

    Args:
        mapping: as far as it could be read.
        meant: the fields that it names, those that it misspells under their own names.
        is_whole: whether all its tables are known; an unknown one may be a misspelt one that is needed.
    """
    for name in sorted(mapping.columns.keys() & mapping.constants.keys()):
        yield f"{name} is in [fields] and in [constants]"
    if mapping.is_text and (params := sorted(name for name in meant if name.endswith(".params"))):
        yield f"{params[0]} is a parameter vector, where the candidates are texts; a log has one of them"
    env = mapping.constants.get("env")
    if env is not None and (unknown := unknown_task(env, mapping)):
        yield unknown
    if "iteration" in mapping.constants:
        yield "iteration cannot be the same in all rows; for rows in order, give it the column '@row'"
    yield from _of_evidence(mapping, meant)
    if mapping.decimal == "," and "," in (mapping.separator or ""):
        yield "[source] list_separator and decimal are both a comma"
    if not is_whole:
        return
    for name in (*IDENTITY, "selected"):
        if name not in meant:
            more = ", or the constant 'better' if the better one was kept" if name == "selected" else ""
            yield f"{name} is missing; give its column in [fields], or its value in [constants]{more}"
    yield from _of_parents(mapping, meant)
    is_revised = mapping.parents is not None or any(name.startswith("revised.") for name in meant)
    for role, is_needed in (("initial", mapping.parents is None), ("revised", is_revised)):
        if is_needed and not {f"{role}.returns", f"{role}.mean_return"} & meant:
            yield f"{role}.returns is missing, one return per rollout, or else {role}.mean_return"


def _of_parents(mapping: LogMapping, meant: set[str]) -> Iterator[str]:
    """What does not go together in a mapping of a log with a row per candidate."""
    if mapping.parents is None:
        return
    if initial := sorted(name for name in meant if name.startswith("initial.") and name != "initial.source"):
        yield f"{initial[0]} is of the parent, whose own row gives it"
    if mapping.parents == "named" and "candidate" not in meant:
        yield "candidate is missing: the column of the names by which rows call their parents"


def _of_evidence(mapping: LogMapping, meant: set[str]) -> Iterator[str]:
    """Ways to state the evidence that do not go together."""
    indices = [label for label in SHOWN_LABELS if mapping.has(f"evidence.{label}")]
    if indices and mapping.has("evidence.shown"):
        yield f"evidence.shown and evidence.{indices[0]} mean the same; give one of them"
    if indices and "initial.returns" not in meant:
        yield f"evidence.{indices[0]} is an index among initial.returns, which are missing"
    pairs = [name for name in (f"evidence.{label}_return" for label in PAIR_LABELS) if mapping.has(name)]
    ways = [
        *pairs[:1],
        *(name for name in ("evidence.shown", "evidence.items", "evidence.prompt") if mapping.has(name)),
    ]
    if len(ways) > 1:
        yield f"{' and '.join(ways)} mean the same; give one of them"
    if mapping.has("evidence.texts") and not mapping.has("evidence.items"):
        yield "evidence.texts are those of evidence.items, which are missing"
