"""A judge behind a scripted server on this machine, and hand-made judgements."""

from __future__ import annotations

import hashlib
import json
import re

from tests.collector.llm.loopback import OLLAMA, OPENAI, Loopback, Reply

DIALECTS = {"ollama": OLLAMA, "openai": OPENAI}


def reply(driver="worst", sentence="The worst rollout fell.", **more):
    return json.dumps({"driver": driver, "sentence": sentence, "mentions_worst": True, **more})


class ModelServer(Loopback):
    """Replies to each prompt by `respond`, which gets the prompt, its seed, and how many were asked before."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []
        self.seeds: list[int] = []

    def next_reply(self, request):
        looked_up = {"/api/show": Reply(body={"details": {}}), "/v1/models": Reply(body={"data": [{"id": "tiny:1b"}]})}
        if request.path in looked_up:
            return looked_up[request.path]
        prompt = request.body["messages"][0]["content"]
        seed = request.body.get("seed", request.body.get("options", {}).get("seed"))
        with self._lock:
            self.prompts.append(prompt)
            self.seeds.append(seed)
            said = self.respond(prompt, seed, len(self.prompts) - 1)
        dialect = next(each for each in DIALECTS.values() if each.chat == request.path)
        return said if isinstance(said, Reply) else dialect.answer(said)

    def options(self, backend="ollama", model="tiny:1b"):
        """Options that name a model here."""
        return ["--model", model, "--base-url", self.url + ("/v1" if backend == "openai" else "")]


class JudgeServer(ModelServer):
    """Replies by the words `case N` that a prompt holds: from that case's list, the last one for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.cases: dict[int, list] = {}

    def respond(self, prompt, seed, number):
        script = self.cases.get(self.case(prompt), [reply()])
        return script.pop(0) if len(script) > 1 else script[0]

    def cases_asked(self) -> list[int]:
        """The cases of all prompts so far, sorted."""
        return sorted(map(self.case, self.prompts))

    @staticmethod
    def case(prompt):
        return int(re.search(r"case (\d+)", prompt)[1])

    def options(self, backend="ollama", model="tiny:1b"):
        """Options of `audit judge` that lead here."""
        return ["--backend", backend, *super().options(backend, model)]


def judgement(answer, iteration=0, **changes):
    """A line of a file of judgements, without this program's help."""
    line = {
        "schema": 1,
        "condition": "hand",
        "env": "cartpole",
        "variant": "threetraj",
        "run": 1,
        "iteration": iteration,
        "answer_sha256": hashlib.sha256(answer.encode()).hexdigest(),
        "prompt_sha256": "0" * 64,
        "backend": "ollama",
        "model": "tiny:1b",
        "options": {},
        "seed": 1,
        "attempts": 1,
        "driver": "worst",
        "sentence": answer,
        "quoted": True,
        "mentions_worst": True,
        "discounts_worst": None,
        "error": None,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "seconds": 0.1,
        "prompt": "…",
        "completion": "…",
        "thinking": None,
    }
    return json.dumps({**line, **changes}) + "\n"
