"""The entry point by which Inspect Scout finds the scanner; Inspect imports it as well, which need not have Scout."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("inspect_scout"):
    import audit.cards.scanner  # noqa: F401
