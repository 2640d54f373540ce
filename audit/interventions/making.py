"""Making a plan from records, and its units again from the records of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from audit.interventions.arms import ARMS, BASE
from audit.interventions.expected import cost
from audit.interventions.plan import FRAMES_DRAWN, LeftOut, Plan, folder_of, name_of, relative
from audit.interventions.presets import Preset, family, get_preset, read_arms
from audit.interventions.showing import Evidence
from audit.interventions.units import Eligible, draw, eligible
from audit.output.errors import AuditError, UsageError
from audit.records.lines import RecordedRun, Records, open_records
from audit.rerun.rollouts import load_tasks
from audit.vocabulary.keys import RunKey
from collector import errors
from collector.switches import switched
from collector.tasks import Task, get_task


def make_plan(
    paths: Sequence[str | Path],
    runs: Callable[[Records], Sequence[RecordedRun]],
    *,
    out: Path,
    backend: str,
    model: str,
    options: Mapping[str, Any],
    given: Mapping[str, Any],
    preset: str,
    units: int | None = None,
    arms: Sequence[str] = (),
    seed: int = 0,
    alpha: float = 0.05,
    permutations: int = 4999,
    rollouts: int = 200,
    longest: int | None = None,
    templates: Path | None = None,
    task_modules: Sequence[Path] = (),
    size: Preset | None = None,
    suite: str | None = None,
    remedies: Sequence[str] = (),
) -> Plan:
    """Make a plan; nothing is asked, and nothing written.

    `runs` gives of opened records those that count, `options` are all that the model reports of itself, `given` those
    that it was made with; settings are those of `intervene_plan`, `size` is a preset of another room, and `suite` the
    digest of the suite whose records are asked about; `remedies` are what `audit remedy` is asked for.

    Raises:
        UsageError: a setting that makes no sense.
        AuditError: no unit is eligible.
    """
    chosen = size or get_preset(preset)
    asked = read_arms(arms, chosen.arms)
    if not asked:
        raise UsageError("no arm is left to ask")
    if rollouts == 1:
        raise UsageError("--rollouts 1: one rollout has no standard error; give 2 or more, or 0 for none")
    _refuse_secrets(given.get("base_url") or "")
    needs = frozenset(ARMS[arm].needs for arm in asked)
    if chosen.spliced and suite is None and needs != {"prompt"}:
        raise UsageError(f"preset {preset} changes recorded prompts only; arms that need rollouts need another")
    load_tasks(task_modules)
    with open_records(paths) as records:
        found = eligible(
            records, runs(records), spliced=chosen.spliced, templates=templates, longest=longest, needs=needs
        )
        drawn = draw([unit for unit, _ in found.units.values()], units or chosen.units, seed)
        clusters = {unit.cluster for unit in drawn}
        switches = {
            name_of(run.identity): run.run.switches
            for run in records.runs
            if run.identity in clusters and run.run is not None and run.run.switches
        }
    if not drawn:
        raise AuditError(_nothing(found))
    characters = {key: len(str(evidence.prompt)) for key, (_, evidence) in found.units.items()}
    hypotheses = family(asked, has_numbers=any(not unit.number_readable for unit in drawn))
    folder = folder_of(out)
    return Plan(
        version=version("salience-audit"),
        preset=preset,
        data=relative(paths, folder),
        task_modules=relative(task_modules, folder),
        templates=None if templates is None else relative([templates], folder)[0],
        spliced=chosen.spliced,
        backend=backend,
        model=model,
        options=dict(options),
        given={name: value for name, value in given.items() if value is not None},
        seed=seed,
        arms=asked,
        units=drawn,
        eligible=dict(Counter(key.env for key in found.units)),
        left_out=[LeftOut(env, reason, number) for (env, reason), number in sorted(found.left_out.items())],
        outcomes=["edits", "text", *(["return"] if rollouts else [])],
        family=hypotheses,
        alpha=alpha,
        permutations=permutations,
        rollouts=rollouts,
        cost=cost(drawn, asked, characters, backend=backend, max_tokens=options.get("max_tokens")),
        switches=switches,
        suite=suite,
        remedies=list(remedies),
    ).signed()


def units_of(plan: Plan, path: Path) -> tuple[list[Evidence], dict[RunKey, Task]]:
    """What the arms of each unit are made from, and the tasks.

    Args:
        plan: the plan.
        path: its path, which its data are relative to.

    Raises:
        AuditError: the records are not there, or are not those of the plan.
    """
    folder = folder_of(path)
    load_tasks([folder / module for module in plan.task_modules])
    wanted = frozenset(unit.key for unit in plan.units)
    needs = frozenset(ARMS[arm].needs for arm in plan.arms)
    with open_records([folder / name for name in plan.data]) as records:
        clusters = {unit.cluster for unit in plan.units}
        runs = [run for run in records.runs if run.identity in clusters]
        found = eligible(
            records,
            runs,
            spliced=plan.spliced,
            templates=None if plan.templates is None else folder / plan.templates,
            needs=needs,
            only=wanted,
            further=True,
            draws=plan.arms.get("P2", 0),
            seed=plan.seed,
        )
    evidence = []
    for unit in plan.units:
        made = found.units.get(unit.key)
        if made is None:
            gone = [reason for env, reason in found.left_out if env == unit.env]
            reason = f" ({gone[0]})" if gone else ""
            raise AuditError(f"unit {unit} is not in the records as planned{reason}: they changed; make a new plan")
        if made[0] != unit:
            raise AuditError(f"unit {unit} is not what was planned: the records changed since; make a new plan")
        evidence.append(made[1] if plan.schema >= FRAMES_DRAWN else replace(made[1], frames=(BASE,)))
    return evidence, tasks_of(plan, path)


def tasks_of(plan: Plan, path: Path) -> dict[RunKey, Task]:
    """The tasks of a plan's runs, under their switches; the records need not be there.

    Args:
        plan: the plan.
        path: its path, which files of tasks are relative to.

    Raises:
        AuditError: a task is not known here.
    """
    folder = folder_of(path)
    load_tasks([folder / module for module in plan.task_modules])
    try:
        return {
            cluster: switched(get_task(cluster.env), plan.switches.get(name_of(cluster), {}))
            for cluster in {unit.cluster for unit in plan.units}
        }
    except errors.UsageError as error:
        raise AuditError(str(error)) from None


def _refuse_secrets(address: str) -> None:
    """Refuse an address with a password or key in it: the plan holds the address, and is there to be shown.

    Raises:
        UsageError: it has one.
    """
    if set("?#@") & set(address):
        raise UsageError(
            "--base-url holds a password or a key, and the plan would show it; set the whole address as OLLAMA_HOST "
            "or OPENAI_BASE_URL, or the key as OLLAMA_API_KEY or OPENAI_API_KEY"
        )


def _nothing(found: Eligible) -> str:
    if not found.prompts:
        return "nothing to ask again: no critic's prompts in the records"
    reasons: Counter[str] = Counter()
    for (_, reason), number in found.left_out.items():
        reasons[reason] += number
    listed = "; ".join(f"{number}: {reason}" for reason, number in reasons.most_common())
    return f"nothing to ask again: of {sum(found.prompts.values())} critics' prompts none is eligible ({listed})"
