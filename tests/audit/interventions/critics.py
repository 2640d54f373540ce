"""A critic behind a scripted server on this machine."""

from __future__ import annotations

from tests.audit.judging.judges import ModelServer
from tests.collector.helpers import answer

PARAMETERS = 10
"""Of a CartPole policy."""


class CriticServer(ModelServer):
    """Replies by `respond`, which tests replace."""

    respond = staticmethod(lambda prompt, seed, number: revised(seed))


def revised(seed: int) -> str:
    """A readable answer that differs from one seed to another."""
    values = [round(seed // 7**place % 100 / 10 - 5, 1) for place in range(PARAMETERS)]
    return answer(values, f"The worst rollout fell. So says {seed}.")
