"""The sheet that a coder fills in: one row per answer, with what there is to read and empty columns for the codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from audit.output.escaping import cell
from audit.output.paragraphs import KINDS, diff_lines, item_lines
from audit.vocabulary.keys import RevisionKey

READING: Final = ("rollouts", "changes", "answer")
"""What a coder reads."""

OUTCOME: Final = ("r0", "r1", "delta", "direction")
"""Columns of the relation `revisions` that a blind sheet does not have."""

Row = Mapping[str, Any]


def columns(codes: Iterable[str], *, with_outcome: bool) -> list[str]:
    """The columns of a sheet, in order, given those for codes."""
    return [*RevisionKey._fields, "coder", *codes, "note", *READING, *(OUTCOME if with_outcome else ()), "drawn_by"]


def sheet_rows(
    order: Sequence[RevisionKey],
    coder: str,
    drawn_by: str,
    answers: Mapping[RevisionKey, Row],
    outcomes: Mapping[RevisionKey, Row] | None = None,
) -> Iterator[dict[str, str]]:
    """The rows of one coder, without codes.

    Args:
        order: which answers, in the coder's order.
        coder: name.
        drawn_by: how the sample was stratified; the same in all rows, so that it reveals nothing about any.
        answers: rows of the relation `answers_to_code`.
        outcomes: rows with the columns of `OUTCOME`; none in a blind sheet.
    """
    for identity in order:
        answer = answers[identity]
        row = {
            **identity._asdict(),
            "coder": coder,
            "rollouts": rollouts(answer),
            "changes": changes(answer),
            "answer": answer["answer"] or "",
            "drawn_by": drawn_by,
            **(outcomes[identity] if outcomes is not None else {}),
        }
        # Numbers are not formulas, even negative ones, and must stay numbers.
        yield {name: cell(value) if isinstance(value, str) else str(value) for name, value in row.items()}


def rollouts(answer: Row) -> str:
    """The rollouts shown, a line each; then those in a role that were not; then statistics, where there were any."""
    shown = answer["shown"] or []
    if answer["evidence_kind"] in KINDS:
        return "\n".join(item_lines(shown))
    lines = [
        _rollout(f"{item['label']}{_heading(item['name'])}", item["rollout"], item["return"], item["length"])
        for item in shown
    ]
    named = {item["label"] for item in shown}
    unshown = " (not shown)" if shown else ""
    for label in ("worst", "median", "best"):
        if label not in named and answer["returns"] is not None:
            index = answer[f"{label}_rollout"]
            lines.append(_rollout(f"{label}{unshown}", index, answer["returns"][index], answer["lengths"][index]))
    return "\n".join([*lines, *_statistics(answer["statistics"])])


def changes(answer: Row) -> str:
    """The changed parameters before and after, a line each; or the word diffs of a text's components."""
    if answer["after_text"] is not None:
        return "\n".join(diff_lines(answer["before_text"], answer["after_text"])) or "nothing"
    lines = [f"params[{i}]: {_number(answer['before'][i])} -> {_number(answer['after'][i])}" for i in answer["changed"]]
    return "\n".join(lines) or "nothing"


def _heading(name: str | None) -> str:
    return f" (called {name})" if name else ""


def _rollout(label: str, index: int | None, value: float | None, length: int | None) -> str:
    parts = [
        f"{name} {_number(number)}"
        for name, number in (("rollout", index), ("return", value), ("length", length))
        if number is not None
    ]
    return f"{label}: {', '.join(parts)}"


def _statistics(statistics: Row | None) -> Iterator[str]:
    for name, summary in (statistics or {}).items():
        if isinstance(summary, Mapping):
            values = [f"{key} {_number(value)}" for key, value in summary.items() if value is not None]
            yield f"all {name}: {', '.join(values)}"
        elif summary is not None:
            yield f"{name}: {_number(summary)}"


def _number(value: float) -> str:
    """With four decimals at most, as in the prompts of critics."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
