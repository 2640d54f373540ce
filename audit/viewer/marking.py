"""What is marked at revisions: on their pages, in the table, and as counts to filter by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from audit.marks.marks import Mark
from audit.output.errors import AuditError
from audit.output.escaping import in_line, visible
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.viewer.query import Query
    from audit.viewer.session import Session

NO_FOLDER: Final = "these records are in no folder; name a file for marks with --marks"


def mark_of(session: Session, key: RevisionKey) -> dict[str, Any]:
    """The star, tags and note of a revision, and why they cannot be changed; that is empty where they can."""
    marks, problem = _all(session)
    mark = marks.get(key) or Mark()
    why_not = problem or (NO_FOLDER if session.marks is None else in_line(session.marks.why_not()))
    return {"star": mark.star, "tags": sorted(mark.tags), "note": visible(mark.note), "why_not": why_not}


def marks_of(session: Session, keys: Sequence[Sequence[Any]]) -> dict[str, list[dict[str, Any] | None]]:
    """The stars and tags of some revisions as `marks`, None for those without; empty where no revision has any."""
    marks, _ = _all(session)
    if not marks:
        return {}
    found = (marks.get(RevisionKey(*key)) for key in keys)
    return {"marks": [None if each is None else _brief(each) for each in found]}


def _brief(mark: Mark) -> dict[str, Any]:
    return {"star": mark.star, "tags": sorted(mark.tags), "note": bool(mark.note)}


def tags(session: Session, query: Query) -> dict[str, Any]:
    """How many revisions of a query have a star, and how many each tag, with the filters of both set aside.

    Also what is wrong with the file of marks.
    """
    marks, problem = _all(session)
    known = _among(session, replace(query, tags=(), starred=False), marks) if marks else []
    counts = Counter(tag for mark in known for tag in mark.tags)
    lines = [] if session.marks is None else session.marks.problems
    return {
        "stars": sum(mark.star for mark in known),
        "tags": sorted(counts.items()),
        "problems": [problem] if problem else [in_line(str(each)) for each in lines[:10]],
    }


def _among(session: Session, query: Query, marks: Mapping[RevisionKey, Mark]) -> list[Mark]:
    wanted = tuple(key for key in marks if query.keys is None or key in query.keys)
    rows = session.table.all_rows(replace(query, keys=wanted, sort=()), RevisionKey._fields)
    return [marks[RevisionKey(*row)] for row in rows]


def _all(session: Session) -> tuple[Mapping[RevisionKey, Mark], str]:
    """The marks, and why they cannot be read; the pages of revisions are shown all the same."""
    try:
        return ({} if session.marks is None else session.marks.all()), ""
    except AuditError as error:
        return {}, in_line(str(error))
