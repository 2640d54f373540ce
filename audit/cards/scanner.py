"""A scanner of Inspect Scout, `salience-audit/salience`: which rollouts or examples of a prompt its answer cites."""

from __future__ import annotations

from itertools import pairwise

from inspect_scout import Reference, Result, Scanner, Transcript, scanner

# Inspect imports this module whenever it looks for a scanner, so what takes long is imported where it is needed.
# Nothing here may import DuckDB, of which Scout has another version.


# Scout asks for the version of the distribution of that name, and has the entry point of that name imported.
@scanner(name="salience-audit/salience", messages=["user", "assistant"])
def salience() -> Scanner[Transcript]:
    """Which evidence the last answer to a critic's or a reflector's prompt cites.

    The value is `worst`, `worst and others`, `others` or `none`; `some` where the prompt states no scores by which one
    is the worst; and null where no prompt is one that shows rollouts, examples or programs.
    """

    async def scan(transcript: Transcript) -> Result:
        from audit.cards.citations import cited
        from audit.sources.prompt_evidence import evidence_in

        for asked, answered in reversed(list(pairwise(transcript.messages))):
            if answered.role == "assistant" and asked.role == "user" and (evidence := evidence_in(asked.text)):
                found = cited(evidence, answered.text)
                sentences = found["sentences"]
                return Result(
                    value=found.pop("value"),
                    answer=sentences[0] if sentences else None,
                    explanation="\n\n".join(f"{each} [M1]" for each in sentences) or "nothing shown is cited [M1]",
                    metadata=found,
                    references=[Reference(type="message", cite="[M1]", id=answered.id or "")],
                )
        return Result(value=None, explanation="no prompt that shows rollouts, examples or programs")

    return scan
