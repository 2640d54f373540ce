"""What a critic was shown, from the fields that a row fills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.importing.fields import LONGEST_ITEM, PAIR_LABELS, SHOWN_LABELS
from audit.importing.mapping import LogMapping
from audit.sources.prompt_evidence import evidence_in

Record = dict[str, Any]


def evidence_of(given: Mapping[str, Any], mapping: LogMapping, faults: list[str]) -> Record | None:
    """The evidence of a record; None where the log states none.

    Args:
        given: the fields that a row fills.
        mapping: states what the log counts rollouts from, and whether lower scores are better.
        faults: what is wrong with the row, which this adds to.
    """
    first = mapping.count_from["rollout"]
    shown = [msgspec.to_builtins(item) for item in given.get("evidence.shown") or ()]
    for item in shown:
        if item["rollout"] is not None:
            item["rollout"] -= first
    shown += [
        {"label": label, "rollout": given[f"evidence.{label}"] - first}
        for label in SHOWN_LABELS
        if given.get(f"evidence.{label}") is not None
    ]
    shown += _items(given, first, faults)
    shown += _pair(given)
    kind, prompt = given.get("evidence.kind"), given.get("evidence.prompt")
    if prompt is not None and (found := evidence_in(prompt)) is not None:
        shown += map(msgspec.to_builtins, found.shown)
        kind = kind or found.kind
    for item in shown if mapping.is_cost else ():
        if item.get("return") is not None:
            item["return"] = 0.0 - item["return"]
    returns, lengths = given.get("initial.returns"), given.get("initial.lengths")
    for item in shown:
        place = item["rollout"]
        if place is not None and not 0 <= place < (len(returns) if returns else place + 1):
            faults.append(f"evidence.{item['label']} is rollout {place + first}, and initial.returns has no such")
        elif place is not None and returns:
            if item.get("return") is None:
                item["return"] = returns[place]
            item.setdefault("length", lengths[place] if lengths and place < len(lengths) else None)
        if len(item.get("text") or "") > LONGEST_ITEM:
            item["text"] = f"{item['text'][:LONGEST_ITEM]} [cut]"
    statistics = given.get("evidence.statistics")
    if kind is None and (shown or statistics is not None):
        faults.append("evidence.kind is missing, and something was shown")
    return None if kind is None else {"kind": kind, "shown": shown, "statistics": statistics}


def _items(given: Mapping[str, Any], first: int, faults: list[str]) -> list[Record]:
    """The examples shown, by their ids or else their indices, which count from `first`."""
    items, texts = given.get("evidence.items"), given.get("evidence.texts")
    if items is None:
        return []
    returns, ids = given.get("initial.returns") or [], given.get("initial.example_ids")
    if items == "all":
        places = list(range(len(returns)))
    else:
        known = {name: place for place, name in reversed(list(enumerate(ids or [])))}
        try:
            places = [known[item] if ids else int(item) - first for item in items]
        except (KeyError, ValueError) as error:
            wanted = "initial.example_ids" if ids else "an index of initial.returns"
            faults.append(f"evidence.items: {error.args[0]!r} is not {'one of ' if ids else ''}{wanted}")
            return []
    if texts is not None and len(texts) != len(places):
        faults.append(f"evidence.texts has {len(texts)} entries where evidence.items has {len(places)}")
        texts = None
    return [
        {"label": "item", "rollout": place, **({} if texts is None else {"text": texts[number]})}
        for number, place in enumerate(places)
    ]


def _pair(given: Mapping[str, Any]) -> list[Record]:
    """A worse and a better item that have scores of their own, in this order."""
    shown = []
    for label in PAIR_LABELS:
        score, text = given.get(f"evidence.{label}_return"), given.get(f"evidence.{label}_text")
        if score is not None or text is not None:
            shown.append({"label": label, "rollout": None, "return": score, **({} if text is None else {"text": text})})
    return shown
