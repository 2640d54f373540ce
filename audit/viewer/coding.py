"""Coding in the browser: a coder's rows of a sheet, blind, written into the file after each answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import AuditError
from audit.validation.coding.answers import rows_by_identity
from audit.validation.coding.filling import NOTE, Rows
from audit.validation.coding.guide import guide
from audit.validation.coding.labels import Labels, resolve_identities
from audit.validation.coding.sheet import READING, changes, rollouts
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.store import Store
    from audit.viewer.session import Session

_MISSING: Final = {"rollouts": "", "changes": "", "answer": "This revision is not in the records that are viewed."}


def sheet(session: Session) -> dict[str, Any]:
    """A coder's sheet: what there is to read, the codes so far, and the guide.

    Nothing else of the records is in it: neither the revision's identity nor how it turned out, what detectors find,
    or what others coded.

    Returns:
        `file` is None where no file of labels was named.

    Raises:
        AuditError: the file cannot be read.
    """
    filling = session.coding
    if filling is None:
        return {"file": None}
    rows = filling.read()
    with session.lock:
        reading = _reading(session.store, rows)
    return {
        "file": filling.path.name,
        "coder": filling.coder,
        "columns": [{"name": name, "codes": list(codes)} for name, codes in rows.columns.items()],
        "has_note": rows.has_note,
        "guide": [section._asdict() for section in guide(rows.columns, session.store.detected_by)],
        "reading": {str(row.label.line): text for row, text in zip(rows.rows, reading, strict=True)},
        **_state(rows),
    }


def save(session: Session, row: int, column: str, value: str, expected: str) -> dict[str, Any]:
    """Write a code or a note of the coder's into the file.

    Args:
        session: what is viewed.
        row: the line of the file that the row begins in.
        column: with codes, or `note`.
        value: the code, or empty; a note is any text.
        expected: the version of the file that the page shows.

    Returns:
        The rows' codes and the file's version as they are now.

    Raises:
        ChangedError: the file was written by another program meanwhile.
        AuditError: no file of labels was named, there is no such row, column or code, or it cannot be written.
    """
    if session.coding is None:
        raise AuditError("no file of labels to write: start audit view with --labels")
    return _state(session.coding.fill(row, column, value, expected))


def _state(rows: Rows) -> dict[str, Any]:
    """What changes by coding."""
    return {
        "version": rows.version,
        "rows": [
            {
                "row": row.label.line,
                "codes": {
                    column: row.label.codes.get(column, row.values[column.lower()].strip()) for column in rows.columns
                },
                "note": row.values.get(NOTE, ""),
                "is_done": row.is_done,
            }
            for row in rows.rows
        ],
    }


def _reading(store: Store, rows: Rows) -> list[Mapping[str, str]]:
    """What a coder reads of each row: as the sheet has it, or from the records if the sheet holds codes alone."""
    if all(column in row.values for row in rows.rows for column in READING):
        return [{column: row.values[column] for column in READING} for row in rows.rows]
    relation = store.relation("answers_to_code")
    known = [RevisionKey(*key) for key in relation.select(", ".join(RevisionKey._fields)).fetchall()]
    labels = Labels(rows=[row.label for row in rows.rows])
    resolve_identities(labels, known, ())
    named = {label.line: label.identity for label in labels.rows}
    answers = rows_by_identity(relation, frozenset(named.values()))
    texts = {
        line: {"rollouts": rollouts(answer), "changes": changes(answer), "answer": answer["answer"] or ""}
        for line, key in named.items()
        for answer in [answers[key]]
    }
    return [texts.get(row.label.line, _MISSING) for row in rows.rows]
