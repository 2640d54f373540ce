"""As many HTTP clients of one server as there are calls in flight to share among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, Protocol, TypeVar


class Closable(Protocol):
    """The interface that all clients have in common."""

    async def close(self) -> Any:
        """Release its connections."""


Client = TypeVar("Client", bound=Closable)

CALLS_EACH: Final = 16
"""For every call a client goes through all its connections, several times: with hundreds that costs more than the rest
of a run's work together."""


class Clients(Generic[Client]):
    """Makes a client whenever all others are in use.

    Args:
        make: makes one; the first is made at once, so that its errors come early.
    """

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self.all = [make()]
        self._calls = [0]

    @contextmanager
    def one(self) -> Iterator[Client]:
        """A client for one call."""
        place = next((place for place, calls in enumerate(self._calls) if calls < CALLS_EACH), len(self.all))
        if place == len(self.all):
            self.all.append(self._make())
            self._calls.append(0)
        self._calls[place] += 1
        try:
            yield self.all[place]
        finally:
            self._calls[place] -= 1
