"""Departures from the methods as published: what the released code did otherwise, and common random numbers.

All are off by default. Those that change anything for a task and a method are recorded and show in the condition.
`docs/reproducing.md` describes each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from collector.budget import EXCERPTS
from collector.methods import Method
from collector.remedies import Remedy
from collector.tasks import LinearSpace, Task

CLIPPED_AS_RELEASED: Final = frozenset({"r2po", "props", "propsplus"})
"""Methods whose continuous actions the released code clips; it steps the others as they are."""

_LABELS: Final = {
    "action_clipping": "clipping",
    "step_cap": "cap",
    "optimum": "optimum",
    "step_size": "step",
    "warmup_range": "warmup",
    "named_iterations": "named",
    "paired_seeds": "paired",
    "excerpts": "excerpts",
    "on_unreadable": "on-unreadable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What a user asks for; None, and the first of the choices, are the method as published.

    Attributes:
        action_clipping: continuous actions are clipped for `all` methods, or for those that the `released` code clips.
        step_cap: steps after which a rollout is cut off.
        optimum: the return that prompts name as about the best.
        step_size: the search step that prompts suggest.
        warmup_range: warm-up draws are `clipped` to the range, or `unbounded`.
        named_iterations: the number of iterations that prompts name.
        paired_seeds: both candidates of an iteration are rolled out on the same seeds.
        excerpts: trajectories excerpted in the history.
        on_unreadable: a run whose search answers stay unreadable stops, or it skips the iteration.
        remedies: what else is done with the evidence and the answers; recorded as their names.
    """

    action_clipping: Literal["all", "released"] = "all"
    step_cap: int | None = None
    optimum: float | None = None
    step_size: float | None = None
    warmup_range: Literal["clipped", "unbounded"] = "clipped"
    named_iterations: int | None = None
    paired_seeds: bool = False
    excerpts: int = EXCERPTS
    on_unreadable: Literal["stop", "skip"] = "stop"
    remedies: tuple[Remedy, ...] = ()


def effective(asked: Switches, task: Task, method: Method, *, iterations: int, warmup: int) -> dict[str, Any]:
    """The switches that change something for this task and method, by name: what is recorded."""
    linear = task.space if isinstance(task.space, LinearSpace) else None
    continuous = linear is not None and not linear.discrete
    changes = {
        "action_clipping": asked.action_clipping == "released" and continuous and method.id not in CLIPPED_AS_RELEASED,
        "step_cap": asked.step_cap not in {None, task.step_cap},
        "optimum": asked.optimum not in {None, task.optimum},
        "step_size": linear is not None and asked.step_size not in {None, linear.step_size},
        "warmup_range": asked.warmup_range == "unbounded" and linear is not None and warmup > 0,
        "named_iterations": asked.named_iterations not in {None, iterations},
        "paired_seeds": asked.paired_seeds and method.calls == 2,
        "excerpts": asked.excerpts != EXCERPTS and method.history == "excerpts",
        "on_unreadable": asked.on_unreadable == "skip",
    }
    switches = {name: getattr(asked, name) for name, changed in changes.items() if changed}
    return switches | ({"remedies": [remedy.id for remedy in asked.remedies]} if asked.remedies else {})


def switched(task: Task, switches: Mapping[str, Any]) -> Task:
    """The task under recorded switches."""
    direct = {name: switches[name] for name in ("step_cap", "optimum") if name in switches}
    space = task.space
    if "step_size" in switches and isinstance(space, LinearSpace):
        space = replace(space, step_size=switches["step_size"])
    clip = switches.get("action_clipping") != "released"
    return replace(task, space=space, clip_actions=clip, **direct)


def labels(switches: Mapping[str, Any]) -> list[str]:
    """The switches as parts of a condition."""
    plain = {name: value for name, value in switches.items() if name != "remedies"}
    parts = [_LABELS[name] if value is True else f"{_LABELS[name]}-{value}" for name, value in plain.items()]
    return [*parts, *switches.get("remedies", [])]
