"""One revision as its page shows it: what was shown beside what was answered, and what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.output.escaping import in_line, visible
from audit.output.word_diff import pieces
from audit.references import Mention, Shown, driver
from audit.references.marking import meaning
from audit.reports.explain import Revision, in_full
from audit.viewer.query import Query
from audit.viewer.recorded import recorded_beside
from audit.viewer.table import no_such
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.viewer.session import Session

LABELS = ("worst", "median", "best")


def revision(session: Session, key: RevisionKey, query: Query) -> dict[str, Any]:
    """All that the page shows of a revision.

    Args:
        session: the records.
        key: the revision.
        query: those among which its place, the one before it and the one after it are.

    Raises:
        AuditError: there is no such revision.
    """
    row = session.table.row(key)
    if row is None:
        raise no_such(key)
    chosen = [row] if row["worst"] is not None else []
    references = [{"detector": session.store.detected_by.name}] if row["cites"] is not None else []
    with session.lock:
        full = in_full(session.store, row, chosen, references)
    place, before, after = session.table.neighbours(query, row["id"])
    return {**page_of(full, row), **recorded_beside(key, row["file"]), "place": place, "before": before, "after": after}


def page_of(full: Revision, row: Mapping[str, Any]) -> dict[str, Any]:
    """A revision without what is beside its record: what an exported folder has of it.

    Args:
        full: as `audit.show` returns it.
        row: its row in the viewer's table.
    """
    initial, revised = full["initial"], full["revised"]
    is_text = full["thresholds"]["policy"] == "text"
    rationale = full["rationale"] if is_text else revised["answer"]
    mentions = [Mention(**each) for each in full["mentions"]]
    found = _driver(full, rationale)
    return {
        "key": [row[name] for name in RevisionKey._fields],
        "row": {name: value for name, value in row.items() if name not in {"id", "changed"}},
        "text": is_text,
        "model": in_line(" ".join(full[name] for name in ("backend", "model") if full[name])) or None,
        "detector": full["detector"],
        "reason": full["reason"],
        "thresholds": full["thresholds"],
        "initial": _candidate(initial),
        "revised": _candidate(revised),
        "evidence": full["evidence"],
        "items": [_item(each) for each in full.get("items", ())],
        "places": full.get("places", {}),
        "edits": None if is_text else _edits(full),
        "differences": list(_differences(initial["text"], revised["text"])) if is_text else [],
        "answer": _segments(rationale or "", mentions, found["sentence"] if found else ""),
        "whole_answer": visible(revised["answer"] or "") if is_text else None,
        "thinking": None if revised["thinking"] is None else visible(revised["thinking"]),
        "driver": found,
        "judgements": [
            {**each, "sentence": in_line(each["sentence"] or ""), "model": in_line(each["model"])}
            for each in full["judgements"]
        ],
    }


def _candidate(candidate: Mapping[str, Any]) -> dict[str, Any]:
    names = ("params", "returns", "lengths", "seeds", "ended", "mean_return", "source", "example_ids")
    return {name: candidate.get(name) for name in names}


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "label": item["label"],
        "name": item["name"] and in_line(item["name"]),
        "return": item["return"],
        "text": item["text"] and visible(item["text"]),
    }


def _edits(full: Revision) -> list[dict[str, Any]] | None:
    """Every parameter before and after, and whether it counts as changed."""
    before, after = full["initial"]["params"], full["revised"]["params"]
    if not before or not after or len(before) != len(after):
        return None
    changed = {each["index"] for each in full["edits"]}
    return [
        {"index": index, "before": old, "after": new, "changed": index in changed}
        for index, (old, new) in enumerate(zip(before, after, strict=True))
    ]


def _differences(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> Iterator[dict[str, Any]]:
    """The components of a text, each in pieces that stay, go or come."""
    for name in sorted({*(before or ()), *(after or ())}):
        old, new = (before or {}).get(name), (after or {}).get(name)
        yield {
            "name": in_line(name),
            "state": "new" if old is None else "removed" if new is None else "same" if old == new else "changed",
            "pieces": [
                {"kind": piece.kind, "text": visible("".join(piece.words))}
                for piece in pieces(old or "", new or "")
                if piece.words
            ],
        }


def _segments(text: str, mentions: Sequence[Mention], sentence: str) -> list[dict[str, Any]]:
    """The answer in pieces: each a stretch of text, in a mention or not, in the driver's sentence or not."""
    start = text.find(sentence) if sentence else -1
    inside = range(start, start + len(sentence)) if start >= 0 else range(0)
    bounds = {0, len(text), *(bound for each in mentions for bound in (each.start, each.end))}
    if inside:
        bounds |= {inside.start, inside.stop}
    ordered = sorted(bounds)
    found: list[dict[str, Any]] = []
    for begin, end in itertools.pairwise(ordered):
        mention = next((each for each in mentions if each.start <= begin < each.end), None)
        segment: dict[str, Any] = {"text": visible(text[begin:end])}
        if mention is not None:
            segment["mention"] = {
                "labels": mention.labels,
                "rollouts": mention.rollouts,
                "kind": mention.kind,
                "negated": mention.negated,
                "discounted": mention.discounted,
                "meaning": in_line(meaning(mention)),
            }
        if begin in inside:
            segment["driver"] = True
        found.append(segment)
    return found


def _driver(full: Revision, rationale: str | None) -> dict[str, str] | None:
    """What plain rules take the change to be justified by; None where no critic answered."""
    if not rationale or full["revised"]["source"] != "critic":
        return None
    before = full["initial"]
    shown = Shown.of(full["shown"], returns=before["returns"], lengths=before["lengths"], statistics=full["statistics"])
    found = driver(rationale, shown, full["changed"])
    return {"name": found.name, "sentence": found.sentence}
