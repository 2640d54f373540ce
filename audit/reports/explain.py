"""One revision in full: what was shown, answered and changed, and why it is classified as it is."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

from audit.arguments import Analysis, Data, request_of
from audit.detectors.about import parse_about
from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.output.formats import as_json, rounded
from audit.output.paragraphs import WIDTH, wrapped
from audit.output.word_diff import coloured
from audit.references import Mention, Shown, mark, resolve
from audit.reports import explain_text
from audit.store import Store, rows_of
from audit.vocabulary.keys import RevisionKey
from audit.vocabulary.patterns import PATTERNS

if TYPE_CHECKING:
    import duckdb

TEXT: Final = "text"
"""The policy kind of runs whose candidates are texts."""


class Revision(dict[str, Any]):
    """Everything that the records and the analysis contain about one revision, by name; `str` makes readable text."""

    @property
    def marked(self) -> str:
        """The critic's answer as HTML, with its mentions of rollouts marked."""
        return _marked(self, "html")

    def as_json(self) -> str:
        """All of it as one JSON object."""
        return as_json(self, indent=1)

    def __str__(self) -> str:
        return _as_text(self)

    def coloured(self) -> str:
        """The same with colours for a terminal, where the text is one that changed."""
        return coloured(str(self)) if self["thresholds"]["policy"] == TEXT else str(self)


def show(
    data: Data,
    env: str,
    variant: str,
    run: int,
    iteration: int,
    *,
    condition: str | None = None,
    **options: Unpack[Analysis],
) -> Revision:
    """One revision in full, to read: evidence, edits, classification and the critic's answer.

    Args:
        data: records.
        env: task.
        variant: method.
        run: number of the run, from 1.
        iteration: number of the iteration, from 0.
        condition: needed where several conditions have such a revision.
        options: how records are opened and classified.

    Raises:
        UsageError: several conditions have such a revision, and none was named.
        AuditError: there is no such revision.
    """
    request = replace(
        request_of(data, Analysis, options),
        env=[env],
        variant=[variant],
        condition=None if condition is None else [condition],
        run=[run],
    )
    wanted = {"env": env, "variant": variant, "run": run, "iteration": iteration}
    if condition is not None:
        wanted["condition"] = condition
    with request.open() as store:
        found = rows_of(_where(store.relation("revisions"), wanted))
        place = in_line(" ".join(str(value) for value in wanted.values()))
        if not found:
            raise AuditError(f"no revision {place}: no such iteration, or it has no revised candidate")
        if len(found) > 1:
            conditions = ", ".join(in_line(row["condition"]) for row in found)
            raise UsageError(
                f"revision {place} exists under several conditions; choose one with --condition: {conditions}"
            )
        identity = {column: found[0][column] for column in RevisionKey._fields}
        chosen = rows_of(_where(store.relation("evidence"), identity))
        references = rows_of(_where(store.relation("references"), identity))
        return in_full(store, found[0], chosen, references)


def _heading(shown: dict[str, Any]) -> str:
    """The heading of a rollout shown, where it is not the label."""
    return f"  (shown as {in_line(shown['name'])})" if shown["name"] not in (None, shown["label"]) else ""


def in_full(
    store: Store, details: dict[str, Any], chosen: Sequence[dict[str, Any]], references: Sequence[dict[str, Any]]
) -> Revision:
    """All that is known of a revision.

    Args:
        store: the records.
        details: its row in the relation `revisions`.
        chosen: its row in `evidence`, if it has one.
        references: its row in `references`, if it has one.
    """
    identity = {column: details[column] for column in RevisionKey._fields}
    run = {column: details[column] for column in RevisionKey._fields if column != "iteration"}
    [episode] = rows_of(_where(store.relation("episodes"), identity))
    [thresholds] = rows_of(_where(store.relation("thresholds"), run))
    [facts] = rows_of(_where(store.relation("run_facts"), run))
    judgements = rows_of(_where(store.relation("judgements"), identity))
    shown = [
        {
            "label": label,
            "rollout": evidence[f"{label}_rollout"],
            "return": evidence[label],
            "name": evidence[f"{label}_name"],
        }
        for evidence in chosen
        for label in ("worst", "median", "best")
    ]
    before, after = episode["initial"], episode["revised"]
    answers = rows_of(_where(store.relation("critic_answers"), identity))
    of_text: dict[str, Any] = {}
    if thresholds["policy"] == TEXT:
        [thresholds] = rows_of(_where(store.relation("edit_thresholds"), run))
        before, after = explain_text.with_text(before), explain_text.with_text(after)
        of_text = {
            "rationale": answers[0]["answer"] if answers else None,
            "items": episode["shown"] or [],
            "places": {label: each[f"{label}_place"] for each in chosen for label in ("worst", "median", "best")},
        }
    return Revision(
        {
            **details,
            "file": episode["file"],
            "backend": facts["backend"],
            "model": facts["model"],
            "detector": references[0]["detector"] if references else None,
            "evidence_kind": episode["evidence_kind"],
            "evidence": shown,
            "edits": [
                {"index": i, "before": before["params"][i], "after": after["params"][i]}
                for i in details["changed"] or ()
            ],
            "reason": _reason(details, thresholds),
            "thresholds": {key: value for key, value in thresholds.items() if key not in RevisionKey._fields},
            "shown": episode["shown"],
            "statistics": episode["statistics"],
            "mentions": _mentions(episode, answers),
            "judgements": [
                {key: value for key, value in each.items() if key not in RevisionKey._fields} for each in judgements
            ],
            "initial": before,
            "revised": after,
            **of_text,
        }
    )


def _mentions(episode: dict[str, Any], answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a critic's answer mentions; nothing where another search call made the second proposal."""
    if not answers:
        return []
    before = episode["initial"]
    shown = Shown.of(
        episode["shown"], returns=before["returns"], lengths=before["lengths"], statistics=episode["statistics"]
    )
    return [asdict(mention) for mention in resolve(answers[0]["answer"], shown)]


def _marked(revision: dict[str, Any], form: Literal["plain", "html"] = "plain") -> str:
    """The answer with its mentions in brackets, or marked; nothing in it acts on a terminal or a page."""
    answer = revision["rationale"] if "rationale" in revision else revision["revised"]["answer"]
    return mark(answer or "", [Mention(**mention) for mention in revision["mentions"]], form)


def _reason(details: dict[str, Any], thresholds: dict[str, Any]) -> str:
    numbers = {key: rounded(value) for key, value in {**thresholds, **details}.items()}
    if thresholds["policy"] == TEXT:
        if details["pattern"] is None:
            return explain_text.no_pattern(details)
        return PATTERNS[details["pattern"]].rule_of_texts.format(**numbers)
    if details["edit_distance"] is None:
        return "parameters are not recorded"
    if details["pattern"] is None:
        return "the return did not change"
    return PATTERNS[details["pattern"]].rule.format(**numbers)


def _as_text(revision: dict[str, Any]) -> str:
    """A revision in full, to read."""
    sections = _sections_of_text(revision) if revision["thresholds"]["policy"] == TEXT else _sections(revision)
    return "\n\n".join(
        "\n".join([title, *(f"  {line}".rstrip() for line in lines)]) for title, lines in sections.items()
    )


def _sections(revision: dict[str, Any]) -> dict[str, list[str]]:
    edits = [f"params[{e['index']}]: {e['before']:g} -> {e['after']:g}" for e in revision["edits"]]
    evidence = [
        f"{e['label']:<7} rollout {e['rollout']:<3} return {rounded(e['return'])}{_heading(e)}"
        for e in revision["evidence"]
    ]
    return {
        "Revision": _identity_lines(revision),
        "Returns": [_returns("initial", revision["initial"]), _returns("revised", revision["revised"])],
        "Evidence, of the initial candidate": evidence or ["no returns of single rollouts are recorded"],
        f"Edits{_extent(revision)}": edits or ["none" if _extent(revision) else "parameters are not recorded"],
        "Classification": _classification(revision),
        "Answer, with the rollouts that it mentions": wrapped(_marked(revision) or "(not recorded)"),
    }


def _sections_of_text(revision: dict[str, Any]) -> dict[str, list[str]]:
    return {
        "Revision": _identity_lines(revision),
        "Scores": [_returns("initial", revision["initial"]), _returns("revised", revision["revised"])],
        "Items shown, in the order of display": explain_text.shown_items(revision) or ["not recorded"],
        f"Edits{explain_text.extent(revision)}": explain_text.edits(revision),
        "Classification": _classification(revision),
        "Rationale, with the items that it mentions": wrapped(_marked(revision) or "none"),
        "Answer": explain_text.answer(revision),
    }


def _extent(revision: dict[str, Any]) -> str:
    params = revision["initial"]["params"]
    return "" if params is None else f" ({revision['edit_distance']} of {len(params)} parameters)"


def _identity_lines(revision: dict[str, Any]) -> list[str]:
    lines = [f"{column:<9} {in_line(str(revision[column]))}" for column in RevisionKey._fields]
    model = " ".join(revision[key] for key in ("backend", "model") if revision[key]) or "not recorded"
    return [*lines, f"{'model':<9} {in_line(model)}", f"{'from':<9} {in_line(revision['file'])}"]


def _returns(role: str, candidate: dict[str, Any]) -> str:
    if candidate["returns"] is None:
        return f"{role} {rounded(candidate['mean_return'])}, as the log states"
    each = " ".join(rounded(value) for value in candidate["returns"])
    return "\n  ".join(
        textwrap.wrap(f"{role} {rounded(candidate['mean_return'])} = mean of {each}", WIDTH, subsequent_indent="  ")
    )


def _classification(revision: dict[str, Any]) -> list[str]:
    origin = rounded(revision["thresholds"]["origin"])
    kept = "accepted" if revision["accepted"] else "not accepted"
    lines = [
        f"{revision['direction']}: delta {rounded(revision['delta'])}; {kept}",
        f"edit pattern: {revision['pattern'] or 'none'} ({revision['reason']}; thresholds: {origin})",
        f"agreement structure: {revision['structure'] or 'unknown'}; "
        f"severity {rounded(revision['severity']) or 'undefined'}",
    ]
    is_text = revision["thresholds"]["policy"] == TEXT
    asked = parse_about(revision["about"] or "worst")
    if revision["evidence_kind"] == "programs" and asked.is_worst:
        return [
            *lines,
            *_judgements(revision),
            "other candidates were shown, of which none is asked about as the worst",
        ]
    about = str(asked).replace("rollout", "example") if is_text else str(asked)
    if revision["detector"] is None:
        answered = revision["revised"]["source"] == "critic" and revision.get("rationale", True)
        why = "the judge has not judged the answer" if answered else "no critic's answer is recorded"
        if is_text and not answered and revision["revised"]["answer"]:
            why = "the answer gives no rationale beside the text"
        return [*lines, *_judgements(revision), f"{why}, so nothing can refer to {about}"]
    refers = "refers" if revision["cites"] else "does not refer"
    lines += [*_judgements(revision), f"the answer {refers} to {about} (detector {revision['detector']})"]
    if revision["strict"] is not None:
        strict, permissive = rounded(revision["strict"]), rounded(revision["permissive"])
        lines.append(f"salience-problem regression: strict {strict}, permissive {permissive}")
    return lines


def _judgements(revision: dict[str, Any]) -> list[str]:
    """The judgements of the answer; their sentences are a model's, and escaped like the critic's own."""
    lines = []
    for each in revision["judgements"]:
        sentence = " ".join(in_line(each["sentence"] or "").split())
        quoted = "" if each["quoted"] else " (not in the answer)"
        verdict = f"driver {each['driver']}" + (f', from "{sentence}"{quoted}' if sentence else "")
        lines.append(f"judged by {in_line(each['model'])}: {verdict if each['driver'] else in_line(each['error'])}")
    return [line for text in lines for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ")]


def _where(relation: duckdb.DuckDBPyRelation, wanted: dict[str, Any]) -> duckdb.DuckDBPyRelation:
    from duckdb import ColumnExpression, ConstantExpression

    same, *others = (ColumnExpression(column) == ConstantExpression(value) for column, value in wanted.items())
    for each in others:
        same &= each
    # One filter, since each is bound by itself, which takes longer than to apply it.
    return relation.filter(same)
