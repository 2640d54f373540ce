"""The calls of an examination for whoever makes them: their prompts, their names, and how an answer is read."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from audit.cards.examining import PLAN, RECORDS, plan_of
from audit.cards.suite import Size, Suite, write_records
from audit.interventions.making import units_of
from audit.interventions.plan import Call, Plan
from audit.interventions.running import Asking

BACKEND: Final = "inspect"
NOBODY: Final[Mapping[str, Any]] = {"backend": BACKEND, "model": BACKEND, "options": {}, "given": {}}
"""Who is asked, where that does not matter: neither prompts nor seeds nor the order of calls depend on it."""


def asking_of(suite: Suite, size: Size, who: Mapping[str, Any] = NOBODY, units: int | None = None) -> Asking:
    """The calls of an examination, without a folder of its own.

    Args:
        suite: whose units are asked.
        size: of the examination.
        who: `backend`, `model`, `options` and `given`, as `make_plan` has them.
        units: only the first so many; None for all of the size.
    """
    with tempfile.TemporaryDirectory() as name:
        write_records(suite.of_size(size)[:units], Path(name) / RECORDS)
        path = Path(name) / PLAN
        plan = plan_of(suite, size, Path(name) / RECORDS, path, who)
        return Asking(plan, *units_of(plan, path))


def names_of(plan: Plan) -> dict[str, Call]:
    """The calls of a plan in their order, by the name that each has elsewhere: `UNIT/ARM/REPLICATE`."""
    return {f"{plan.units[call.unit].run}/{call.arm}/{call.replicate}": call for call in plan.calls()}
