"""The page of tables in the documentation, made from the program's own when `make docs` builds the site."""

from collections.abc import Callable, Mapping
from typing import Any

from audit.importing.fields import CANDIDATE, FIELDS, Kind
from audit.interventions.arm import Arm
from audit.interventions.arms import ARMS
from audit.interventions.presets import PRESETS, Preset
from collector.methods import METHODS, Method
from collector.remedies import REMEDIES, Remedy
from collector.tasks import TASKS
from collector.tasks.task import LinearSpace, ParameterSpace, Task

HEAD = "# Tables\n"
NOTHING = "–"


def page() -> str:
    """The page in Markdown."""
    lines = [
        *_table("Tasks", _task, TASKS),
        *_table("Methods", _method, METHODS),
        *_table("Remedies", _remedy, REMEDIES),
        *_table("Arms", _arm, ARMS),
        *_table("Presets", _preset, PRESETS),
        *_table("Fields of a mapping", _field, _fields()),
    ]
    return "\n".join([HEAD, *lines])


def _table(heading: str, row: Callable[[Any], dict[str, object]], entries: Mapping[str, Any]) -> list[str]:
    rows = {name: row(entry) for name, entry in entries.items()}
    columns = ["id", *next(iter(rows.values()))]
    lines = [columns, ["---"] * len(columns), *([f"`{name}`", *values.values()] for name, values in rows.items())]
    return [f"## {heading}", "", *(f"| {' | '.join(map(str, line))} |" for line in lines), ""]


def _task(task: Task) -> dict[str, object]:
    return {
        "environment": task.gym_id,
        **_policy(task.space),
        "optimum in prompts": f"{task.optimum:g}",
        "τ_c": f"{task.tau_c:g}",
        "floor": f"{task.floor:g}",
        "success at": f"{task.success_return:g}",
        "step cap": task.step_cap or NOTHING,
    }


def _policy(space: ParameterSpace) -> dict[str, object]:
    if isinstance(space, LinearSpace):
        kind, seen = "linear, largest output" if space.discrete else "linear", len(space.observations)
    else:
        kind, seen = "table", space.states
    return {"policy": kind, "observations or states": seen, "actions": len(space.actions), "parameters": space.size}


def _method(method: Method) -> dict[str, object]:
    return {
        "first call": method.first or NOTHING,
        "second call": method.second or NOTHING,
        "the critic sees": method.evidence or NOTHING,
        "history holds": method.history,
        "revision rule": "at τ_c" if method.revision_rule else NOTHING,
        "what enters the history": method.commits,
    }


def _remedy(remedy: Remedy) -> dict[str, object]:
    return {
        "acts on": "instructions" if remedy.acts == "instruction" else remedy.acts,
        "what it does": remedy.meaning,
        "further calls": remedy.calls or NOTHING,
        # Of two values of K it can be seen what depends on it.
        "further rollouts, at most": _rollouts(remedy.rollouts(1), remedy.rollouts(2)),
    }


def _rollouts(of_one: int, of_two: int) -> str:
    return (f"{of_one} K" if of_two > of_one else str(of_one)) if of_one else NOTHING


def _arm(arm: Arm) -> dict[str, object]:
    return {"what is changed": arm.meaning, "compared with": f"`{arm.control}`" if arm.control else NOTHING}


def _preset(preset: Preset) -> dict[str, object]:
    arms = ", ".join(f"`{arm}` {answers}" for arm, answers in preset.arms.items())
    return {
        "units": preset.units,
        "answers of each unit": arms,
        "calls": f"{preset.units * sum(preset.arms.values()):,}",
    }


def _fields() -> dict[str, Kind]:
    """Those of both candidates once."""
    others = {name: kind for name, kind in FIELDS.items() if name.split(".")[0] not in {"initial", "revised"}}
    return {**{f"initial.{name}`, `revised.{name}": kind for name, kind in CANDIDATE.items()}, **others}


def _field(kind: Kind) -> dict[str, object]:
    return {"must be": kind.words}
