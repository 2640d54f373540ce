"""Models behind a server that answer a prompt by a function of its text, and the options that lead to them."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.collector.llm.loopback import OPENAI, Loopback, Reply

ENTRY = re.compile(r"params\[(\d+)\]: (-?[\d.]+)")


def policy_of(prompt: str) -> list[float]:
    """The policy under review."""
    line = prompt.partition("## Policy under review\n")[2].partition("\n")[0]
    return [float(value) for _, value in ENTRY.findall(line)]


def in_words(params: list[float], why: str = "I changed what the rollouts show.") -> str:
    """An answer with these parameters."""
    return ", ".join(f"params[{place}]: {value:g}" for place, value in enumerate(params)) + f"\n{why}"


def copies(prompt: str) -> str:
    """A critic that does nothing."""
    return in_words(policy_of(prompt), "I leave all as it is.")


def zeroes(prompt: str) -> str:
    """A critic that sets all parameters to 0."""
    return in_words(
        [0.0] * len(policy_of(prompt)), "The worst rollout shows that nothing works, because it fell early."
    )


def silent(_: str) -> str:
    """A model whose answers cannot be read."""
    return "I would rather talk about something else."


class Scripted(Loopback):
    """A model that answers by a function of the prompt.

    Attributes:
        answer: the function.
        left: calls that are still answered; after them the server refuses.
        seeds: of the calls that were answered.
    """

    keeps_alive = True

    def __init__(self, answer: Callable[[str], str]) -> None:
        super().__init__()
        self.answer = answer
        self.left = 10**9
        self.seeds: list[int] = []

    def next_reply(self, request):
        if request.path == "/v1/models":
            return Reply(body={"data": [{"id": "scripted"}, {"id": "other"}]})
        with self._lock:
            self.left -= 1
            if self.left < 0:
                return Reply(401, {"error": {"message": "no credit"}})
            self.seeds.append(request.body["seed"])
        # No two answers are the same word for word, as from a model that is sampled.
        words = f"{self.answer(request.body['messages'][0]['content'])} I weighed it {request.body['seed']} times."
        return OPENAI.answer(words)

    def options(self, model: str = "scripted") -> dict[str, object]:
        """Keyword arguments of `audit.critic` that lead to the model."""
        return {"backend": "openai", "model": model, "base_url": f"{self.url}/v1", "concurrency": 1}
