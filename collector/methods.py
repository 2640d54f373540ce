"""The methods as data: one row each, along the axes in which they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from collector.budget import CALLS
from collector.errors import UsageError
from collector.records import EvidenceKind

FirstCall = Literal["search", "informed_search", "solo_critic"]
SecondCall = Literal["repeat", "search", "critic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to search for a policy with a language model.

    Attributes:
        id: the name used in options, records and tables.
        first: the prompt that opens an iteration. `search` shows numbers only, `informed_search` describes the task as
            well, `solo_critic` asks for draft, critique and revision in one answer.
        second: the call that follows, if one does. `repeat` sends the same prompt again, `search` a search prompt
            whose history holds the first result, `critic` a critic's prompt.
        evidence: what the critic is shown of the initial candidate's rollouts.
        history: what the critic is told of earlier iterations: their mean `returns`, or `excerpts` of recent
            trajectories as well. All other prompts get returns alone.
        revision_rule: the critic is asked for restraint at or above τ_c.
        commits: which candidate enters the history: the `first`, the `better` one by mean return, or the `revised`
            one whatever it earned.
    """

    id: str
    first: FirstCall = "search"
    second: SecondCall | None = None
    evidence: EvidenceKind | None = None
    history: Literal["returns", "excerpts"] = "returns"
    revision_rule: bool = False
    commits: Literal["first", "better", "revised"] = "better"

    @property
    def calls(self) -> int:
        """Model calls in an iteration."""
        return 1 if self.second is None else 2

    @property
    def iterations(self) -> int:
        """Iterations of a run with the common budget of calls."""
        return CALLS // self.calls


METHODS: dict[str, Method] = {
    method.id: method
    for method in (
        Method(id="props", commits="first"),
        Method(id="propsplus", first="informed_search", commits="first"),
        Method(id="criticonly", first="solo_critic", commits="first"),
        Method(id="puresearch", second="repeat"),
        Method(id="actorsecondpass", second="search"),
        Method(id="alwayscritic", second="critic", evidence="representative", history="excerpts", commits="revised"),
        Method(id="reptraj", second="critic", evidence="representative", history="excerpts"),
        Method(id="threetraj", second="critic", evidence="three"),
        Method(id="r2po", second="critic", evidence="median", revision_rule=True),
    )
}


def get_method(method_id: str) -> Method:
    """The method of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    try:
        return METHODS[method_id]
    except KeyError:
        raise UsageError(f"unknown method '{method_id}'; choose from {', '.join(METHODS)}") from None
