"""What the paper's tables are made of, as data: parts, each a sweep of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from collector.baselines.methods import ALL, BASELINES
from collector.errors import UsageError
from collector.methods import METHODS
from collector.plan import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A sweep of the paper.

    Attributes:
        name: for options and messages.
        words: what it is, for people.
        envs: tasks, or `all`.
        variants: methods, or the name of a group of them.
        tau_c: revision threshold of r2po.
        budget: iterations as a multiple of the method's own: 2 makes 8,000 rollouts instead of 4,000.
    """

    name: str
    words: str
    envs: tuple[str, ...] = ("all",)
    variants: tuple[str, ...]
    tau_c: str = "default"
    budget: int = 1

    @property
    def asks_a_model(self) -> bool:
        """Whether it needs a language model; the others need the extra `baselines`."""
        return self.variants != (ALL,)

    def request(self, wanted: Request) -> Request:
        """What to collect for this part: as wanted, but for its tasks, methods, threshold and budget."""
        return replace(
            wanted, envs=self.envs, variants=self.variants, tau_c=self.tau_c, iterations=self._iterations(wanted)
        )

    def _iterations(self, wanted: Request) -> int | None:
        if wanted.iterations is not None:
            return wanted.iterations * self.budget
        if self.budget == 1:
            return None
        first = METHODS[self.variants[0]] if self.asks_a_model else next(iter(BASELINES.values()))
        return first.iterations * self.budget


_TAU_TASKS: Final = ("cartpole", "pong")
"""Tasks of the threshold table."""

PARTS: Final = (
    Part(name="methods", words="nine methods on ten tasks", variants=("all",)),
    Part(name="tau-half", words="R2PO with half the threshold", envs=_TAU_TASKS, variants=("r2po",), tau_c="half"),
    Part(name="tau-off", words="R2PO without a threshold", envs=_TAU_TASKS, variants=("r2po",), tau_c="off"),
    Part(name="extended", words="ProPS and ProPS+ with twice the budget", variants=("props", "propsplus"), budget=2),
    Part(name="baselines", words="deep-RL baselines", variants=(ALL,)),
    Part(name="baselines-extended", words="deep-RL baselines with twice the budget", variants=(ALL,), budget=2),
)


def chosen(names: Sequence[str]) -> list[Part]:
    """The parts of those names in the paper's order; all of them where none is named.

    Raises:
        UsageError: there is no such part.
    """
    known = {part.name: part for part in PARTS}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown part '{name}'; choose from {', '.join(known)}")
    return [part for part in PARTS if not names or part.name in names]
