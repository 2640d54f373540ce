"""Two revisions side by side, with what differs between their answers, texts and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from audit.output.escaping import visible
from audit.output.word_diff import pieces
from audit.records.locating import file_of
from audit.reports.explain import in_full
from audit.viewer.recorded import recorded_beside
from audit.viewer.table import no_such
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.viewer.session import Session

FACTS: Final = ("r0", "r1", "delta", "direction", "pattern", "cites", "strict", "permissive", "p_no_change", "accepted")


def beside(session: Session, one: RevisionKey, other: RevisionKey) -> dict[str, Any]:
    """What two revisions are, and how the other's texts differ from the one's.

    Returns:
        `sides` with the facts of each, and `texts`: each with its title and `pieces` that both have (`same`), or only
        the one (`old`) or the other (`new`), where either is recorded.

    Raises:
        AuditError: there is no such revision.
    """
    sides = [_side(session, key) for key in (one, other)]
    titles = dict.fromkeys(title for _, texts in sides for title in texts)
    compared = [_compared(title, *(texts.get(title) for _, texts in sides)) for title in titles]
    return {"sides": [facts for facts, _ in sides], "texts": [each for each in compared if each is not None]}


def _side(session: Session, key: RevisionKey) -> tuple[dict[str, Any], dict[str, str | None]]:
    row = session.table.row(key)
    if row is None:
        raise no_such(key)
    with session.lock:
        full = in_full(session.store, row, [row] if row["worst"] is not None else [], [])
    revised = full["revised"]
    before, after = full["initial"]["params"], revised["params"]
    prompt = recorded_beside(key, file_of(row["file"], session.options.paths))["prompt"]
    texts = {"Answer": revised["answer"], "Thinking": revised["thinking"], "Prompt": prompt}
    for name, text in (revised["text"] or {}).items():
        texts[f"Revised text: {name}"] = text
    if before and after:
        lines = [f"params[{place}]: {value:g}" for place, value in enumerate(after)]
        texts["Revised parameters"] = "\n".join(lines)
    return {"key": list(key), **{name: row[name] for name in FACTS}}, texts


def _compared(title: str, one: str | None, other: str | None) -> dict[str, Any] | None:
    if one is None and other is None:
        return None
    one, other = one or "", other or ""
    return {
        "title": visible(title),
        "same": one == other,
        "pieces": [
            {"kind": piece.kind, "text": visible("".join(piece.words))} for piece in pieces(one, other) if piece.words
        ],
    }
