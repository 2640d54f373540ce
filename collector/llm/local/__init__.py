"""A language model in this process, by llama.cpp: no server to start, no key, no network."""

from collector.llm.local.model import DEFAULTS, LocalModel

__all__ = ["DEFAULTS", "LocalModel"]
