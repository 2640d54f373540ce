"""From options to runs: which tasks and methods, under which condition, with which settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.baselines import planning as baselines
from collector.baselines.methods import ALL, BASELINES, Baseline
from collector.budget import ROLLOUTS, RUNS
from collector.errors import UsageError
from collector.llm.backends import option_labels
from collector.methods import METHODS, Method, get_method
from collector.prompts import Prompts, templates
from collector.revision_rule import AUTOMATIC, RULE
from collector.spec import RunSpec, is_label, slug
from collector.switches import Switches, effective, labels, switched
from collector.system.naming import meant
from collector.tasks import TASKS, Task, get_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user asks to collect; None is the default of the task or the method."""

    envs: Sequence[str]
    variants: Sequence[str]
    runs: int = RUNS
    iterations: int | None = None
    rollouts: int = ROLLOUTS
    seed: int = 0
    warmup: int | None = None
    tau_c: str = "default"
    switches: Switches = field(default_factory=Switches)
    prompt_folder: Path | None = None
    condition: str | None = None
    backend: str
    model: str
    options: dict[str, Any]


def plan(request: Request) -> list[RunSpec]:
    """The runs asked for: the first run of every cell comes first, so that all cells can be looked at early.

    Raises:
        UsageError: an unknown name, a value out of range, or templates that cannot be used.
    """
    if request.prompt_folder is not None:
        templates.check(request.prompt_folder)
    tasks = [get_task(name) for name in _expand(request.envs, {"all": TASKS})]
    variants = [_id_of(name) for name in request.variants]
    methods = [_method(name) for name in _expand(variants, {"all": METHODS, ALL: BASELINES})]
    for task in tasks:
        if request.prompt_folder is not None:
            Prompts(task, request.prompt_folder).try_out()
        # A wrong setting is refused even where no method has the rule.
        threshold(request.tau_c, task)
    if request.condition is not None and not is_label(request.condition):
        raise UsageError(
            f"--condition '{request.condition}' cannot name a folder; use letters, digits and . _ + - "
            f"and begin with a letter or a digit"
        )
    _refuse_unfit(request, methods)
    cells = [(task, method) for task in tasks for method in methods if baselines.is_wanted(method, task, variants)]
    return [_spec(request, task, method, run) for run in range(1, request.runs + 1) for task, method in cells]


def _refuse_unfit(request: Request, methods: Sequence[Method]) -> None:
    """Refuse remedies that do not apply to all methods.

    Raises:
        UsageError: one does not, or would change templates of a user's.
    """
    for remedy in request.switches.remedies:
        reasons = {
            method.id: "needs a language model" if isinstance(method, Baseline) else remedy.unfit(method)
            for method in methods
        }
        if unfit := [method for method, reason in reasons.items() if reason]:
            fits = [method for method in METHODS if not remedy.unfit(METHODS[method])]
            raise UsageError(
                f"--remedy {remedy.id} {reasons[unfit[0]]}; it does not apply to {', '.join(unfit)}, but to "
                f"{', '.join(fits)}"
            )
        if remedy.rewrites and request.prompt_folder is not None:
            raise UsageError(f"--remedy {remedy.id} changes the project's own templates; leave out --prompts")


def left_out(request: Request) -> str | None:
    """One line that names what the plan skips, if anything."""
    tasks = [get_task(name) for name in _expand(request.envs, {"all": TASKS})]
    return baselines.left_out(tasks, [_id_of(name) for name in request.variants])


def _id_of(variant: str) -> str:
    """The id of a method, a baseline or a group of them, which tables call by another name."""
    names = {each: each.removeprefix("sb3-") for each in BASELINES} | {"propsplus": "props+"}
    return meant(variant, ["all", ALL, *METHODS, *BASELINES], names)


def _method(name: str) -> Method:
    try:
        return BASELINES.get(name) or get_method(name)
    except UsageError as error:
        raise UsageError(f"{error}, {', '.join(BASELINES)}") from None


def _spec(request: Request, task: Task, method: Method, run: int) -> RunSpec:
    iterations = request.iterations or method.iterations
    warmup = task.warmup if request.warmup is None else request.warmup
    rule = RULE if method.revision_rule and request.tau_c == AUTOMATIC else None
    if rule is not None and not warmup:
        raise UsageError(
            f"--tau-c {request.tau_c} measures progress from the random trials, and --warmup 0 leaves them out; "
            f"give at least one, or a number"
        )
    chosen = effective(request.switches, task, method, iterations=iterations, warmup=warmup)
    if isinstance(method, Baseline):  # which is asked for nothing else
        chosen = {name: value for name, value in chosen.items() if name == "step_cap"}
    common: dict[str, Any] = {
        "condition": request.condition or _condition(request, task, method, chosen),
        "task": switched(task, chosen),
        "method": method,
        "run": run,
        "seed": request.seed,
        "iterations": iterations,
        "rollouts": request.rollouts,
        "switches": chosen,
    }
    if isinstance(method, Baseline):
        asked: dict[str, Any] = {
            "backend": baselines.BACKEND,
            "model": method.id,
            "options": baselines.options(method, task),
        }
        return baselines.BaselineRun(**common, **asked, tau_c=None, warmup=0)
    return RunSpec(
        **common,
        tau_c=threshold(request.tau_c, task) if method.revision_rule else None,
        tau_rule=rule,
        warmup=warmup,
        backend=request.backend,
        model=request.model,
        options=request.options,
        prompt_folder=request.prompt_folder,
    )


def threshold(setting: str, task: Task) -> float | None:
    """τ_c of a setting: `default` and `half` are the task's, `off` and `auto` none, anything else the number itself.

    Raises:
        UsageError: it is neither.
    """
    named = {"default": task.tau_c, "half": task.tau_c_half, "off": None, AUTOMATIC: None}
    if setting in named:
        return named[setting]
    try:
        value = float(setting)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"--tau-c '{setting}' is neither default, half, off, auto nor a number")
    return value


def _condition(request: Request, task: Task, method: Method, chosen: Mapping[str, Any]) -> str:
    """The model, and what else was chosen, in so far as it matters to the method and is not the default."""
    is_baseline = isinstance(method, Baseline)
    parts = [baselines.CONDITION if is_baseline else slug(request.model)]
    if method.revision_rule and request.tau_c != "default":
        parts.append(f"tau-{request.tau_c}" + (f"-{RULE.id}" if request.tau_c == AUTOMATIC else ""))
    if not is_baseline:
        parts += option_labels(request.backend, request.options)
    if request.iterations not in {None, method.iterations}:
        parts.append(f"iterations-{request.iterations}")
    if request.rollouts != ROLLOUTS:
        parts.append(f"rollouts-{request.rollouts}")
    if not is_baseline and request.warmup not in {None, task.warmup}:
        parts.append(f"warmup-{request.warmup}")
    if not is_baseline and request.prompt_folder is not None:
        parts.append(f"prompts-{slug(request.prompt_folder.resolve().name)}")
    return "+".join(parts + labels(chosen))


def _expand(names: Sequence[str], groups: Mapping[str, Iterable[str]]) -> list[str]:
    """Names without repetition; the name of a group is expanded to its members."""
    asked = [meant(name, groups) for name in names]
    return list(dict.fromkeys(name for given in asked for name in groups.get(given, [given])))
