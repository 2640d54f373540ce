"""The methods as data: one row each, along the axes in which they differ."""

from __future__ import annotations

from collector.budget import CALLS
from collector.errors import UsageError
from collector.records import FirstCall, MethodFacts


class Method(MethodFacts, frozen=True, kw_only=True):
    """One way to search for a policy with a language model; `id` is its name in options, records and tables."""

    id: str
    first: FirstCall | None = "search"

    @property
    def facts(self) -> MethodFacts:
        """What `run.json` records of it."""
        return MethodFacts(**{name: getattr(self, name) for name in MethodFacts.__struct_fields__})

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
