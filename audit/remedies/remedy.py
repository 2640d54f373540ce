"""`audit remedy`: plan, run and report which remedy makes a critic's revisions do less harm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Unpack, get_args

from audit.cards.suite import Size, Suite, packaged, write_records
from audit.interventions.answers import report_of
from audit.interventions.intervene import PlanOptions, planned
from audit.interventions.making import make_plan, tasks_of
from audit.interventions.plan import TEXTS, Plan, kind_of, write_plan
from audit.interventions.presets import Preset
from audit.interventions.report import finished, read_report
from audit.interventions.texts.doors import revises_texts, text_plan, text_report
from audit.options import Data, RunSelection, options_of
from audit.output.errors import AuditError, UsageError
from audit.output.notes import note
from audit.output.rows import Table
from audit.remedies.outcomes import RECORDED, outcomes
from audit.remedies.report import ALPHA, judged, table
from collector.model_options import ModelOptions
from collector.remedies import REMEDIES
from collector.tasks import Task

SIZES: Final[Mapping[str, tuple[int, int, int, int]]] = {"small": (40, 6, 3, 100), "full": (126, 9, 6, 100)}
"""Units, answers to each recorded prompt, answers under each remedy, and rollouts of each policy."""
PRESET: Final = "remedies"
"""The preset of such a plan on texts."""
PREFIX: Final = "remedies-"
"""What the preset of such a plan begins with."""


def remedy_plan(
    data: Data = (),
    *,
    backend: str,
    out: str | Path = "remedies.json",
    suite: Size | None = None,
    size: str = "small",
    remedies: Sequence[str] = (),
    personality: str | None = None,
    units: int | None = None,
    seed: int = 0,
    rollouts: int | None = None,
    longest: int | None = None,
    templates: str | Path | None = None,
    task_modules: Sequence[str | Path] = (),
    dry_run: bool = False,
    **options: Unpack[PlanOptions],
) -> Table:
    """Plan an experiment on remedies: recorded prompts, or those of the suite, are asked as they are and changed.

    Args:
        data: records; none with `suite`.
        backend: simulated, local, ollama or openai.
        out: the plan's file, which must not exist.
        suite: ask the prompts of `audit critic` of this size, quick or full.
        size: small or full.
        remedies: names of those to ask; all without. Those on answers and acceptance need no calls of their own.
        personality: of the simulated critic.
        units: how many prompts to draw; None for the size's.
        seed: of all that is drawn.
        rollouts: fresh rollouts of each revised policy; None for 100.
        longest: leave out prompts of more characters; None for no bound.
        templates: the folder of templates that prompts were made with, if they are not the project's.
        task_modules: Python files with tasks of your own.
        dry_run: write nothing.
        options: of the model, as `collect` has them, and which groups.

    Returns:
        The plan's arms and their calls.

    Raises:
        UsageError: an option that makes no sense, or an unknown remedy.
        AuditError: no records, no eligible prompt, or the plan cannot be written.
    """
    from audit.interventions.running import model_of

    path = Path(out)
    if size not in SIZES:
        raise UsageError(f"unknown size '{size}'; choose from {', '.join(SIZES)}")
    number, own, each, runs = SIZES[size]
    model_options = {name: value for name, value in options.items() if name in ModelOptions.__optional_keys__}
    selection = {name: value for name, value in options.items() if name not in model_options}
    given: dict[str, Any] = {**model_options, "personality": personality}
    model = model_of(backend, given, 1)
    if not dry_run and path.exists():
        raise AuditError(f"{path} exists; a plan is not replaced: name another place with --out FILE")
    if suite is None and (request := options_of(data, RunSelection, selection)).paths and revises_texts(request):
        return text_plan(
            request,
            path,
            program="audit remedy",
            backend=backend,
            model=model.name,
            options=dict(model.options),
            given={name: value for name, value in given.items() if value is not None},
            preset=PRESET,
            remedies=remedies,
            units=units,
            seed=seed,
            alpha=ALPHA,
            permutations=4999,
            longest=longest,
            dry_run=dry_run,
        )
    chosen = _chosen(remedies)
    arms = {RECORDED: own, **{name: each for name in chosen if REMEDIES[name].rewrites is not None}}
    if rollouts is not None and rollouts < 2:
        raise UsageError(f"--rollouts {rollouts}: remedies are judged by returns; give 2 or more")
    paths, choose, source = _source(data, selection, suite, path)
    plan = make_plan(
        paths,
        choose,
        out=path,
        backend=backend,
        model=model.name,
        options=model.options,
        given=given,
        preset=f"{PREFIX}{size}",
        size=Preset(number if suite is None else len(packaged().of_size(suite)), arms, spliced=source is not None),
        units=units,
        seed=seed,
        rollouts=rollouts or runs,
        longest=longest,
        templates=None if templates is None else Path(templates),
        task_modules=[Path(module) for module in task_modules],
        suite=None if source is None else source.sha256,
        remedies=chosen,
    )
    if not dry_run:
        write_plan(plan, path)
    return planned(plan, None if dry_run else path, "audit remedy")


def remedy_report(plan: str | Path, *, workers: int | None = None, cache: bool = True) -> Table:
    """Report a finished experiment on remedies: harm avoided, gain lost, and cost of each.

    Args:
        plan: the plan's file.
        workers: threads or processes that run policies; None for one per core.
        cache: whether returns of policies that an earlier report ran may be used, and new ones kept.

    Returns:
        A row for each remedy.

    Raises:
        AuditError: it is no such plan, was changed, or calls have no answer yet.
        UsageError: `workers` makes no sense.
    """
    path = Path(plan)
    if kind_of(path) == TEXTS:
        return text_report(path)
    read, answers, problems = finished(path, program="audit remedy")
    if not read.preset.startswith(PREFIX):
        raise AuditError(f"{path} is a plan of another experiment; report it with: audit intervene report {path}")
    tasks = tasks_of(read, path)
    report = read_report(path, cache=cache, workers=workers)
    found = outcomes(read, answers, tasks, _ways(read, tasks), cache=cache, workers=workers)
    experiment = report.experiment
    rows = judged(experiment, found, read.remedies or list(REMEDIES), alpha=ALPHA)
    return table(report, rows, report_of(problems))


def remedy_run(
    plan: str | Path, *, concurrency: int | None = None, evaluate: str | None = None, time_limit: float = 60.0
) -> Table:
    """Make the calls of a plan that have no answer yet; interrupted, it goes on where it was.

    Raises:
        AuditError: as `intervene_run` raises it.
    """
    from audit.interventions.intervene import intervene_run

    return intervene_run(
        plan, concurrency=concurrency, evaluate=evaluate, time_limit=time_limit, program="audit remedy"
    )


def _chosen(remedies: Sequence[str]) -> list[str]:
    """The remedies that are asked.

    Raises:
        UsageError: there is none of that name.
    """
    for name in remedies:
        if name not in REMEDIES:
            raise UsageError(f"unknown remedy '{name}'; choose from {', '.join(REMEDIES)}")
    return [name for name in REMEDIES if not remedies or name in remedies]


def _source(
    data: Data, selection: Mapping[str, Any], suite: Size | None, path: Path
) -> tuple[Sequence[str | Path], Any, Suite | None]:
    """The records that are asked about, which runs of them, and the suite that they are of.

    Raises:
        UsageError: both records and a suite, or neither.
    """
    if suite is None:
        request = options_of(data, RunSelection, selection)
        if not request.paths:
            raise UsageError("name records, or ask the prompts of `audit critic` with --suite quick")
        return request.paths, request.choose, None
    if suite not in get_args(Size):
        raise UsageError(f"unknown suite '{suite}'; choose from {', '.join(get_args(Size))}")
    if data and not (isinstance(data, Sequence) and not data):
        raise UsageError("--suite asks prompts of the package: leave records out")
    folder = path.with_name(f"{path.name.removesuffix('.json')}.records")
    write_records(packaged().of_size(suite), folder)
    note(f"the suite's prompts as records: {folder}")
    return [folder], lambda found: found.runs, packaged()


def _ways(plan: Plan, tasks: Mapping[Any, Task]) -> dict[str, float]:
    """The way that gains on each task are measured by: of the suite its own, else from its floor to high returns."""
    if plan.suite is not None and plan.suite == packaged().sha256:
        return {env: span.length for env, span in packaged().spans.items()}
    found = {}
    for task in tasks.values():
        high = task.optimum if task.thresholds is None else task.thresholds.high
        found[task.id] = high - task.floor or 1.0
    return found
