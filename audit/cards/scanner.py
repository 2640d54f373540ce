"""A scanner of Inspect Scout, `salience-audit/salience`: which rollouts or examples of a prompt its answer cites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from inspect_scout import Reference, Result, Scanner, Transcript, scanner

# Inspect imports this module whenever it looks for a scanner, so what takes long is imported where it is needed.
# Nothing here may import DuckDB, of which Scout has another version.


class Seen(NamedTuple):
    """What an answer could cite.

    Attributes:
        noun: what these are, `rollout` or `example`.
        names: their headings in the order of display.
        scores: theirs, None where the prompt does not state them.
        texts: what is shown of each.
        answer: without the text that it proposes.
    """

    noun: str
    names: Sequence[str]
    scores: Sequence[float | None]
    texts: Sequence[str]
    answer: str


# Scout asks for the version of the distribution of that name, and has the entry point of that name imported.
@scanner(name="salience-audit/salience", messages=["user", "assistant"])
def salience() -> Scanner[Transcript]:
    """Which evidence the last answer to a critic's or a reflector's prompt cites.

    The value is `worst`, `worst and others`, `others` or `none`; `some` where the prompt states no scores; and null
    where no prompt is one that shows rollouts, examples or programs.
    """

    async def scan(transcript: Transcript) -> Result:
        messages = transcript.messages
        for place in range(len(messages) - 1, 0, -1):
            asked, answered = messages[place - 1], messages[place]
            if answered.role == "assistant" and asked.role == "user" and (seen := read(asked.text, answered.text)):
                found = cited(seen)
                quotes = found.pop("quotes")
                reference = Reference(type="message", cite="[M1]", id=answered.id or "")
                return Result(
                    value=found.pop("value"),
                    answer=quotes[0] if quotes else None,
                    explanation=f"{seen.noun}s cited: {', '.join(quotes) or 'none'} [M1]",
                    metadata=found,
                    references=[reference],
                )
        return Result(value=None, explanation="no prompt that shows rollouts, examples or programs")

    return scan


def read(prompt: str, answer: str) -> Seen | None:
    """What a prompt shows; None where it is none of a known template."""
    from audit.interventions.texts.prompts import read_prompt, stated_score
    from collector.prompt_parts import read_blocks

    if blocks := read_blocks(prompt):
        names, texts = [block.name for block in blocks], [block.text for block in blocks]
        return Seen("rollout", names, [block.value for block in blocks], texts, answer)
    parsed = read_prompt(prompt)
    if parsed is None:
        return None
    proposal = parsed.dialect.proposal(answer)
    # An answer that is nothing but the text it proposes gives no reasons.
    reasons = answer.replace(proposal, " ") if proposal is not None else answer
    shown = parsed.shown
    texts = [f"{each.text}{each.feedback or ''}" for each in shown]
    return Seen(parsed.dialect.noun, parsed.names, [stated_score(each) for each in shown], texts, reasons)


def cited(seen: Seen) -> dict[str, Any]:
    """The value, the places cited from 1, that of the worst, and the words that cite."""
    from audit.references.resolving import resolve
    from audit.references.shown import Shown

    lowest = min((score for score in seen.scores if score is not None), default=None)
    known = None not in seen.scores and len(set(seen.scores)) > 1
    rows = [
        {"label": "item", "rollout": place, "return": score, "name": name, "text": text}
        for place, (name, score, text) in enumerate(zip(seen.names, seen.scores, seen.texts, strict=True))
    ]
    if seen.noun == "rollout":
        rows = [{**row, "label": str(row["name"]).split()[0].lower()} for row in rows]
    mentions = [each for each in resolve(seen.answer, Shown.of(rows)) if each.rollouts and not each.negated]
    places = {place for each in mentions for place in each.rollouts}
    worst = {place for place, score in enumerate(seen.scores) if known and score == lowest}
    if not places:
        value = "none"
    elif not known:
        value = "some"
    elif places & worst:
        value = "worst" if places <= worst else "worst and others"
    else:
        value = "others"
    return {
        "value": value,
        "shown": len(seen.names),
        "cited": sorted(place + 1 for place in places),
        "worst": sorted(place + 1 for place in worst),
        "quotes": [each.text for each in mentions],
    }
