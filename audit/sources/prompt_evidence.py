"""What a critic or a reflector was shown, read from its prompt, where a log does not state it otherwise."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import UNSET

from audit.sources.reflection_prompts import OPENEVOLVE, SIMBA, Dialect, Shown, read_prompt, stated_score
from audit.vocabulary.evidence import ShownRollout
from collector.prompt_parts import Block, read_blocks
from collector.records import EvidenceKind, ItemLabel

_ROLES: Final[dict[str | None, ItemLabel]] = {
    "worst": "worst",
    "median": "median",
    "best": "best",
    "representative": "representative",
    "worse": "worst",
    "better": "best",
}


class PromptEvidence(NamedTuple):
    """What a prompt shows.

    Attributes:
        kind: that of records. Several rollouts are a `batch`: what the others returned is not in the prompt.
        shown: in the order of display; a score that the prompt does not state is None.
        dialect: whose template it is; None for a critic of policies.
    """

    kind: EvidenceKind
    shown: tuple[ShownRollout, ...]
    dialect: Dialect | None

    def reasons(self, answer: str) -> str:
        """An answer without the text that it proposes; one that is nothing else gives no reasons."""
        proposal = None if self.dialect is None else self.dialect.proposal(answer)
        return answer if proposal is None else answer.replace(proposal, " ")


def evidence_in(prompt: str) -> PromptEvidence | None:
    """The rollouts, examples or programs that a prompt shows; None where its template is not known.

    Args:
        prompt: all of it, as the model was asked.
    """
    if blocks := read_blocks(prompt):
        alone = blocks[0].label if len(blocks) == 1 else None
        kind: EvidenceKind = "median" if alone == "median" else "representative" if alone else "batch"
        return PromptEvidence(kind, tuple(map(_rollout, blocks)), None)
    if (parsed := read_prompt(prompt)) is None:
        return None
    dialect = parsed.dialect
    kind = "pair" if dialect is SIMBA else "programs" if dialect is OPENEVOLVE else "batch"
    return PromptEvidence(kind, tuple(_item(each, dialect) for each in parsed.shown), dialect)


def _rollout(block: Block) -> ShownRollout:
    label = _ROLES.get(block.label, "item")
    name = UNSET if label == block.label else block.name
    return ShownRollout(label, block.rollout, block.value, block.steps, name)


def _item(shown: Shown, dialect: Dialect) -> ShownRollout:
    """An example or a program; its place need not be its index among the scores of a log."""
    label = _ROLES.get(shown.name, "item")
    name = f"{shown.name}_program_trajectory" if dialect is SIMBA else shown.name
    return ShownRollout(label, None, stated_score(shown), None, name, dialect.write(shown))
