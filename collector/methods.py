"""The methods as data: one row each, along the axes in which they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from collector.budget import CALLS
from collector.errors import UsageError
from collector.records import EvidenceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to search for a policy with a language model.

    Attributes:
        id: the name used in options, records and tables.
        first: which prompt opens an iteration; `search` shows numbers only.
        second: which prompt follows it.
        evidence: what the critic is shown of the initial candidate's rollouts.
        history: what the critic is told of earlier iterations: their mean `returns`, or `excerpts` of recent
            trajectories as well. Search prompts always get returns alone.
        revision_rule: the critic is asked for restraint at or above τ_c.
        commits: which candidate enters the history: the `better` one by mean return, or always the `revised` one.
    """

    id: str
    first: Literal["search"] = "search"
    second: Literal["critic"] = "critic"
    evidence: EvidenceKind
    history: Literal["returns", "excerpts"] = "returns"
    revision_rule: bool = False
    commits: Literal["better", "revised"] = "better"

    @property
    def calls(self) -> int:
        """Model calls in an iteration."""
        return 2

    @property
    def iterations(self) -> int:
        """Iterations of a run with the common budget of 200 calls."""
        return CALLS // self.calls


METHODS: dict[str, Method] = {
    method.id: method
    for method in (
        Method(id="alwayscritic", evidence="representative", history="excerpts", commits="revised"),
        Method(id="reptraj", evidence="representative", history="excerpts"),
        Method(id="threetraj", evidence="three"),
        Method(id="r2po", evidence="median", revision_rule=True),
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
