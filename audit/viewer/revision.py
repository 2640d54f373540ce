"""One revision as its page shows it: what was shown beside what was answered, what was changed, and what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from audit.output.escaping import in_line, visible
from audit.output.names import model_name
from audit.output.word_diff import pieces
from audit.records.locating import file_of
from audit.references import Mention
from audit.references.marking import meaning
from audit.references.sentences import leading
from audit.references.steps import laid_out, mentioned, trajectories
from audit.reports.explain import Revision, in_full
from audit.validation.coding.labels import as_written
from audit.viewer.experiments import units_of
from audit.viewer.query import Query
from audit.viewer.recorded import recorded_beside
from audit.viewer.table import no_such
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.validation.coding.filling import Filling
    from audit.viewer.session import Session

ROLES: Final = ("worst", "median", "best")
SENTENCE: Final = 600
"""Characters of a sentence that is quoted beside the answer."""


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
    page, recorded = page_of(full, row), recorded_beside(key, file_of(row["file"], session.options.paths))
    lay_out(page, full, recorded["prompt"])
    return {
        **page,
        **recorded,
        "labels": _labels(session.coding, key),
        "units": units_of(session.options.plans, key),
        "place": place,
        "among": session.table.count(query),
        "before": before,
        "after": after if place else _first(session, query),
    }


def lay_out(page: dict[str, Any], full: Revision, prompt: str | None) -> None:
    """Add the steps of the rollouts that were shown to a page, where its prompt has them.

    Records of the released code do not state which were shown: these are the rollouts of the prompt.
    """
    if page["shown"] is None or not prompt:
        return
    steps = trajectories(prompt)
    unknown: dict[str, Any] = {"roles": [], "return": None, "length": None, "text": None}
    page["shown"] = page["shown"] or [{"name": f"rollout {each}", "rollout": each, **unknown} for each in steps]
    marked = mentioned(full["revised"]["answer"] or "", steps, full["mentions"])
    for item in page["shown"]:
        if item["rollout"] in steps:
            item["trajectory"] = laid_out(steps[item["rollout"]], marked[item["rollout"]])


def _first(session: Session, query: Query) -> RevisionKey | None:
    """The first revision of a query; None where it has none."""
    found = session.table.page(replace(query, page=1), RevisionKey._fields)
    return RevisionKey(*found[0]) if found else None


def _labels(coding: Filling | None, key: RevisionKey) -> list[dict[str, Any]] | None:
    """The codes that coders gave to a revision; None until all coders are done, since they code blind."""
    coders = {} if coding is None else coding.by_coder()
    if any(rows.done < len(rows.rows) for rows in coders.values()):
        return None
    names = {key, as_written(key)}
    return [
        {"coder": in_line(coder), "codes": dict(row.label.codes), "note": in_line(row.label.note or "")}
        for coder, rows in coders.items()
        for row in rows.rows
        if row.label.identity in names
    ]


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
    shown = _shown(full, row)
    start, end = leading(rationale or "", mentions)
    return {
        "key": [row[name] for name in RevisionKey._fields],
        "row": {name: value for name, value in row.items() if name not in {"id", "changed"}},
        "text": is_text,
        "model": in_line(model_name(full["model"], full["backend"])) or None,
        "detector": full["detector"],
        "reason": full["reason"],
        "thresholds": full["thresholds"],
        "initial": _candidate(initial),
        "revised": _candidate(revised),
        "shown": shown,
        "edits": None if is_text else _edits(full),
        "differences": _differences(initial["text"], revised["text"]) if is_text else None,
        "mentions": [mention_of(each, shown or ()) for each in mentions],
        "answer": None if rationale is None else segments(rationale, mentions, range(start, end)),
        "whole_answer": visible(revised["answer"] or "") if is_text else None,
        "thinking": None if revised["thinking"] is None else visible(revised["thinking"]),
        "leading": _shortened(in_line((rationale or "")[start:end])),
        "judgements": [
            {name: _shortened(in_line(value)) if isinstance(value, str) else value for name, value in each.items()}
            for each in full["judgements"]
        ],
    }


def _shortened(text: str) -> str:
    return text if len(text) <= SENTENCE else f"{text[:SENTENCE]}…"


def _candidate(candidate: Mapping[str, Any]) -> dict[str, Any]:
    names = ("params", "returns", "lengths", "seeds", "ended", "mean_return", "source", "example_ids")
    return {name: candidate.get(name) for name in names}


def _shown(full: Revision, row: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """What the critic was shown, in the order of display, each with its roles; None where that is not recorded."""
    if full["shown"] is None:
        return None
    return [
        {
            "roles": [role for role in ROLES if row[f"{role}_place"] == place]
            or [role for role in ROLES if role == item["label"]],
            "name": in_line(item.get("name") or (f"item {place}" if item["label"] == "item" else item["label"])),
            "rollout": item.get("rollout"),
            "return": item.get("return"),
            "length": item.get("length"),
            "text": item.get("text") and visible(item["text"]),
        }
        for place, item in enumerate(full["shown"], start=1)
    ]


def mention_of(mention: Mention, shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A mention, and the places of what it means among what was shown, from 0."""
    return {
        "text": visible(mention.text),
        "labels": [in_line(label) for label in mention.labels],
        "rollouts": mention.rollouts,
        "kind": mention.kind,
        "negated": mention.negated,
        "meaning": in_line(meaning(mention)),
        "places": [
            place
            for place, item in enumerate(shown)
            if item["rollout"] in mention.rollouts
            or not {*item["roles"], item["name"].lower()}.isdisjoint(mention.labels)
        ],
    }


def _edits(full: Revision) -> dict[str, Any] | None:
    """Every parameter before and after, and the indices of those that count as changed; None where not recorded."""
    before, after = full["initial"]["params"], full["revised"]["params"]
    if not before or not after or len(before) != len(after):
        return None
    return {"before": before, "after": after, "changed": [each["index"] for each in full["edits"]]}


def _differences(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> list[dict[str, Any]] | None:
    """The components of a text, each in pieces that stay, go or come; None where a text is not recorded."""
    if before is None or after is None:
        return None
    return [_difference(name, before.get(name), after.get(name)) for name in sorted({*before, *after})]


def _difference(name: str, old: str | None, new: str | None) -> dict[str, Any]:
    return {
        "name": in_line(name),
        "state": "new" if old is None else "removed" if new is None else "same" if old == new else "changed",
        "pieces": [
            {"kind": piece.kind, "text": visible("".join(piece.words))}
            for piece in pieces(old or "", new or "")
            if piece.words
        ],
    }


def segments(text: str, mentions: Sequence[Mention], inside: range) -> list[dict[str, Any]]:
    """The answer in pieces: each a stretch of text, with the number of its mention, in the leading sentence or not."""
    bounds = {
        0,
        len(text),
        inside.start,
        inside.stop,
        *(bound for each in mentions for bound in (each.start, each.end)),
    }
    numbers = iter([*enumerate(mentions), (None, None)])
    number, mention = next(numbers)
    found: list[dict[str, Any]] = []
    for begin, end in itertools.pairwise(sorted(bounds)):
        while mention is not None and mention.end <= begin:
            number, mention = next(numbers)
        segment: dict[str, Any] = {"text": visible(text[begin:end])}
        if mention is not None and mention.start <= begin:
            segment["mention"] = number
        if begin in inside:
            segment["leading"] = True
        found.append(segment)
    return found
