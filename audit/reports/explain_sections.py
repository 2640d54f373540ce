"""A revision in full as text to read: its sections, and the answer with its mentions marked."""

from __future__ import annotations

import textwrap
from typing import Any, Final, Literal

from audit.detectors.about import parse_about
from audit.output.escaping import in_line
from audit.output.formats import rounded
from audit.output.names import model_name
from audit.output.paragraphs import WIDTH, wrapped
from audit.references import Mention, mark
from audit.reports import explain_text
from audit.vocabulary.keys import RevisionKey

TEXT: Final = "text"
"""The policy kind of runs whose candidates are texts."""


def as_text(revision: dict[str, Any]) -> str:
    """A revision in full, to read."""
    sections = _sections_of_text(revision) if revision["thresholds"]["policy"] == TEXT else _sections(revision)
    return "\n\n".join(
        "\n".join([title, *(f"  {line}".rstrip() for line in lines)]) for title, lines in sections.items()
    )


def marked(revision: dict[str, Any], form: Literal["plain", "html"] = "plain") -> str:
    """The answer with its mentions in brackets, or marked; nothing in it acts on a terminal or a page."""
    answer = revision["rationale"] if "rationale" in revision else revision["revised"]["answer"]
    return mark(answer or "", [Mention(**mention) for mention in revision["mentions"]], form)


def _heading(shown: dict[str, Any]) -> str:
    """The heading of a rollout shown, where it is not the label."""
    return f"  (shown as {in_line(shown['name'])})" if shown["name"] not in (None, shown["label"]) else ""


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
        "Answer, with the rollouts that it mentions": wrapped(marked(revision) or "(not recorded)"),
    }


def _sections_of_text(revision: dict[str, Any]) -> dict[str, list[str]]:
    return {
        "Revision": _identity_lines(revision),
        "Scores": [_returns("initial", revision["initial"]), _returns("revised", revision["revised"])],
        "Items shown, in the order of display": explain_text.shown_items(revision) or ["not recorded"],
        f"Edits{explain_text.extent(revision)}": explain_text.edits(revision),
        "Classification": _classification(revision),
        "Rationale, with the items that it mentions": wrapped(marked(revision) or "none"),
        "Answer": explain_text.answer(revision),
    }


def _extent(revision: dict[str, Any]) -> str:
    params = revision["initial"]["params"]
    return "" if params is None else f" ({revision['edit_distance']} of {len(params)} parameters)"


def _identity_lines(revision: dict[str, Any]) -> list[str]:
    lines = [f"{column:<9} {in_line(str(revision[column]))}" for column in RevisionKey._fields]
    model = model_name(revision["model"], revision["backend"]) or "not recorded"
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
            "the critic was shown other candidates, none of which counts as the worst",
        ]
    about = str(asked).replace("rollout", "example") if is_text else str(asked)
    if revision["detector"] is None:
        answered = revision["revised"]["source"] == "critic" and revision.get("rationale", True)
        why = _unknown(revision, about, is_role=asked.kind == "role") if answered else "no critic's answer is recorded"
        if is_text and not answered and revision["revised"]["answer"]:
            why = "the answer gives no rationale besides the text"
        return [*lines, *_judgements(revision), f"{why}, so nothing can refer to {about}"]
    if revision["cites"] is None:
        unknown = f"the answer is not in English, which the detector {revision['detector']} does not read"
        return [*lines, *_judgements(revision), f"{unknown}: whether it refers to {about} is not known"]
    refers = "refers" if revision["cites"] else "does not refer"
    lines += [*_judgements(revision), f"the answer {refers} to {about} (detector {revision['detector']})"]
    if revision["strict"] is not None:
        strict, permissive = rounded(revision["strict"]), rounded(revision["permissive"])
        lines.append(f"salience-problem regression: strict {strict}, permissive {permissive}")
    return lines


def _unknown(revision: dict[str, Any], about: str, *, is_role: bool) -> str:
    """Why it is not known whether an answer refers to what is asked about."""
    scores = [each["return"] for each in revision["shown"] or () if each["return"] is not None]
    are_equal = bool(scores) and max(scores) - min(scores) <= revision["rounding"]
    if is_role and are_equal and revision["evidence_kind"] in ("batch", "pair"):
        return f"all examples shown have the same score, and none is {about}"
    return "the judge has not judged the answer" if revision["is_judged"] else f"nothing shown is {about}"


def _judgements(revision: dict[str, Any]) -> list[str]:
    """The judgements of the answer; their sentences are a model's, and escaped like the critic's own."""
    lines = []
    for each in revision["judgements"]:
        sentence = " ".join(in_line(each["sentence"] or "").split())
        quoted = "" if each["quoted"] else " (not in the answer)"
        verdict = f"driver {each['driver']}" + (f', from "{sentence}"{quoted}' if sentence else "")
        lines.append(f"judged by {in_line(each['model'])}: {verdict if each['driver'] else in_line(each['error'])}")
    return [line for text in lines for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ")]
