"""A critic behind a scripted server on this machine."""

from __future__ import annotations

from tests.audit.judging.judges import DIALECTS
from tests.collector.helpers import answer
from tests.collector.llm.loopback import Loopback, Reply

PARAMETERS = 10
"""Of a CartPole policy."""


class CriticServer(Loopback):
    """Replies to each prompt by `respond`, which gets the prompt, its seed, and how many were asked before."""

    def __init__(self) -> None:
        super().__init__()
        self.respond = lambda prompt, seed, number: revised(seed)
        self.prompts: list[str] = []
        self.seeds: list[int] = []

    def next_reply(self, request):
        looked_up = {"/api/show": Reply(body={"details": {}}), "/v1/models": Reply(body={"data": [{"id": "tiny:1b"}]})}
        if request.path in looked_up:
            return looked_up[request.path]
        prompt = request.body["messages"][0]["content"]
        seed = request.body.get("seed", request.body.get("options", {}).get("seed"))
        with self._lock:
            number = len(self.prompts)
            self.prompts.append(prompt)
            self.seeds.append(seed)
        dialect = next(each for each in DIALECTS.values() if each.chat == request.path)
        given = self.respond(prompt, seed, number)
        return given if isinstance(given, Reply) else dialect.answer(given)

    def options(self, backend="ollama"):
        """Options of `audit intervene plan` that lead here."""
        return ["--model", "tiny:1b", "--base-url", self.url + ("/v1" if backend == "openai" else "")]


def revised(seed: int) -> str:
    """A readable answer that differs from one seed to another."""
    values = [round(seed // 7**place % 100 / 10 - 5, 1) for place in range(PARAMETERS)]
    return answer(values, f"The worst rollout fell. So says {seed}.")
