"""The simulated model, the default backend: everything runs on a bare machine, and the audit has a known truth."""

from collector.llm.simulated.model import SimulatedModel
from collector.llm.simulated.personality import PERSONALITIES, Personality, get_personality

__all__ = ["PERSONALITIES", "Personality", "SimulatedModel", "get_personality"]
