"""How the simulated model words its answers: in several phrasings, so that counting words is not enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collector.llm.simulated.drawing import pick, pick_weighted
from collector.llm.simulated.reading import Rollout
from collector.policy import to_text

FORMS = {"label": 0.65, "index": 0.15, "return": 0.1, "paraphrase": 0.1}
"""How a rollout is referred to, and how often."""

_LABEL = (
    "In {name} the trouble shows most clearly.",
    "{Name} tells what to change.",
    "What happens in {name} decides this revision.",
)
_INDEX = ("Rollout {index} tells what to change.", "Look at rollout {index}.")
_RETURN = ("The rollout that returned {value:.4g} tells what to change.",)
_PARAPHRASE = {
    "worst": ("The run that failed hardest tells what to change.", "One run went badly wrong, and that one matters."),
    "median": ("The run in the middle tells what to change.", "A typical run tells what to change."),
    "best": ("The most successful run tells what to keep.",),
    "representative": ("The run shown here tells what to change.",),
}
_DENIAL = (
    "The worst rollout looks like a rare failure, so I did not design around it.",
    "I set the worst rollout aside: chance may explain it.",
)
_SILENT = (
    "Some decisions near the end are at fault.",
    "The policy reacts to the wrong part of the state.",
    "A few parameters pull in the wrong direction.",
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference to a rollout: in which form, to which label, and the sentence."""

    form: str
    label: str
    sentence: str


def mention(rollout: Rollout, rng: np.random.Generator) -> Mention:
    """Refer to a rollout in one of the forms; by its name where it has no paraphrase, or its return is not shown."""
    form = pick_weighted(tuple(FORMS), tuple(FORMS.values()), rng)
    if (form == "return" and rollout.value is None) or (form == "paraphrase" and rollout.label not in _PARAPHRASE):
        form = "label"
    sentences = {"label": _LABEL, "index": _INDEX, "return": _RETURN}.get(form) or _PARAPHRASE[rollout.label]
    name = rollout.label if rollout.neutral else f"the {rollout.label} rollout"
    sentence = pick(sentences, rng).format(
        name=name, Name=name[0].upper() + name[1:], index=rollout.index, value=rollout.value
    )
    return Mention(form, rollout.label, sentence)


def denial(rng: np.random.Generator) -> str:
    """A sentence that sets the worst rollout aside."""
    return pick(_DENIAL, rng)


def no_mention(rng: np.random.Generator) -> str:
    """Explain a revision without naming a rollout."""
    return pick(_SILENT, rng)


def changes(before: tuple[float, ...], after: tuple[float, ...]) -> str:
    """List what was changed."""
    moved = [
        f"params[{index}] from {old:.3g} to {new:.3g}"
        for index, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new
    ]
    return f"I moved {', '.join(moved)}." if moved else "I left all parameters as they are."


def answer(params: tuple[float, ...], sentences: list[str]) -> str:
    """An answer in the form asked for: the values on the first line, the reasons after it."""
    return f"{to_text(params)}\n{' '.join(sentences)}"


def unreadable(params: tuple[float, ...], rng: np.random.Generator) -> str:
    """An answer that breaks the form: no values at all, a value missing, or a word in place of one."""
    form = pick(("prose", "short", "word"), rng)
    if form == "prose":
        return "I would keep most of the policy and make it react a little more strongly near the end."
    if form == "short":
        return to_text(params[:-1])
    first, _, rest = to_text(params).partition(",")
    return f"{first.split(':')[0]}: unchanged,{rest}"
