"""The experiment as commands and functions: plan, run, report, show."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from audit.interventions.effects.named_shares import STIMULI
from audit.interventions.expected import Decides, decides
from audit.interventions.making import make_plan
from audit.interventions.plan import TEXTS, Plan, answers_file, kind_of, read_plan, write_plan
from audit.interventions.presets import asks_presence, asks_shares, get_preset
from audit.options import Data, RunSelection, options_of
from audit.output.errors import AuditError, UsageError, count
from audit.output.formats import Row
from audit.output.notes import note, simulated
from audit.output.rows import Table
from collector.model_options import ModelOptions


class PlanOptions(RunSelection, ModelOptions, total=False):
    """Keyword arguments of `intervene_plan`: the model's, and those that choose runs."""


def intervene_plan(
    data: Data,
    *,
    backend: str,
    out: str | Path = "plan.json",
    preset: str = "small",
    personality: str | None = None,
    units: int | None = None,
    arms: Sequence[str] = (),
    seed: int = 0,
    alpha: float = 0.05,
    permutations: int = 4999,
    rollouts: int = 200,
    longest: int | None = None,
    templates: str | Path | None = None,
    task_modules: Sequence[str | Path] = (),
    dry_run: bool = False,
    anyway: bool = False,
    **options: Unpack[PlanOptions],
) -> Table:
    """Plan an experiment: draw units and fix all that is tested, before any answer is seen.

    Args:
        data: records.
        backend: simulated, local, ollama or openai.
        out: the plan's file, which must not exist.
        preset: small, standard, presence or foreign.
        personality: of the simulated critic.
        units: how many prompts to draw; None for the preset's.
        arms: answers of each unit by arm, `XP=8`, in place of the preset's.
        seed: of all that is drawn.
        alpha: level of the primary family.
        permutations: redraws of each test.
        rollouts: fresh rollouts of each revised policy; 0 to run none.
        longest: leave out prompts of more characters; None for no bound.
        templates: the folder of templates that prompts were made with, if they are not the project's.
        task_modules: Python files with tasks of your own.
        dry_run: write nothing.
        anyway: write a plan that can find nothing, too.
        options: of the model, as `collect` has them, and which groups.

    Returns:
        The plan's arms and their calls.

    Raises:
        UsageError: an option that makes no sense.
        AuditError: no records, no eligible prompt, the plan can find nothing, or it cannot be written.
    """
    from audit.interventions.running import model_of
    from audit.interventions.texts.doors import revises_texts, text_plan

    model_options = {name: value for name, value in options.items() if name in ModelOptions.__optional_keys__}
    selection = {name: value for name, value in options.items() if name not in model_options}
    request = options_of(data, RunSelection, selection)
    given: dict[str, Any] = {**model_options, "personality": personality}
    model = model_of(backend, given, 1)
    path = Path(out)
    if not dry_run and path.exists():
        raise AuditError(f"{path} exists; a plan is not replaced: name another place with --out FILE")
    if revises_texts(request):
        if templates is not None or task_modules:
            raise UsageError("--prompts and --task-module are for prompts that revise policies")
        return text_plan(
            request,
            path,
            program="audit intervene",
            backend=backend,
            model=model.name,
            options=dict(model.options),
            given={name: value for name, value in given.items() if value is not None},
            preset=preset,
            units=units,
            arms=arms,
            seed=seed,
            alpha=alpha,
            permutations=permutations,
            longest=longest,
            dry_run=dry_run,
        )
    plan = make_plan(
        request.paths,
        request.choose,
        out=path,
        backend=backend,
        model=model.name,
        options=model.options,
        given=given,
        preset=preset,
        units=units,
        arms=arms,
        seed=seed,
        alpha=alpha,
        permutations=permutations,
        rollouts=rollouts,
        longest=longest,
        templates=None if templates is None else Path(templates),
        task_modules=[Path(module) for module in task_modules],
    )
    found = decides_of(plan)
    if found.nothing and not (anyway or dry_run):
        raise AuditError(f"{found.sentence}; or give --anyway")
    if not dry_run:
        write_plan(plan, path)
    if len(plan.units) < (asked := units or get_preset(preset).units):
        note(f"{len(plan.units)} of {asked} units drawn: there are no more, or no more than a run's share")
    return planned(plan, None if dry_run else path, "audit intervene")


def intervene_run(
    plan: str | Path,
    *,
    concurrency: int | None = None,
    keep_prompts: bool = False,
    plan_only: bool = False,
    evaluate: str | None = None,
    time_limit: float = 60.0,
    program: str = "audit intervene",
) -> Table:
    """Make the calls of a plan that have no answer yet; interrupted, it goes on where it was.

    Args:
        plan: the plan's file.
        concurrency: calls in flight at once; None for 1 with local, else 4.
        keep_prompts: record prompts as well; otherwise they can be made again from the records.
        plan_only: make no calls; the result states what is left.
        evaluate: `module:function` that scores candidates that are texts, in a process of its own.
        time_limit: seconds that it has for one of them.
        program: whose `report` follows, in what is printed.

    Returns:
        Answers by arm.

    Raises:
        AuditError: the plan or the records were changed, the model is another or fails, or the answers cannot be
            written.
    """
    from audit.interventions.running import run_plan

    path = Path(plan)
    if kind_of(path) == TEXTS:
        from audit.interventions.texts.doors import text_run

        return text_run(
            path,
            concurrency=concurrency,
            keep_prompts=keep_prompts,
            plan_only=plan_only,
            scoring=(evaluate, time_limit),
            program=program,
        )
    read = read_plan(path)
    if evaluate is not None:
        raise UsageError("--evaluate is for plans on texts; policies are run, with --rollouts of the plan")
    if not plan_only:
        run_plan(
            read,
            path,
            concurrency=concurrency or (1 if read.backend == "local" else 4),
            keep_prompts=keep_prompts,
        )
    return _answered(read, path, program)


def intervene_report(
    plan: str | Path | Sequence[str | Path],
    *,
    outcome: str | None = None,
    workers: int | None = None,
    cache: bool = True,
) -> Table:
    """Test a finished experiment: validity first, then the primary family, then all else; or compare several.

    Args:
        plan: the plan's file; or several, whose critics' shares are compared with those of the first.
        outcome: only effects on this: share, edits, text, direction, size, gain or harmful; None for all.
        workers: threads or processes that run revised policies; None for one per core.
        cache: whether returns of policies that an earlier report ran may be used, and new ones kept.

    Returns:
        Effects, a row each; of several plans their shares, then the differences.

    Raises:
        AuditError: a plan was changed, or calls have no answer yet.
        UsageError: no such outcome, or a plan is given twice.
    """
    from audit.interventions.report import COLUMNS, ESSENTIAL, read_report

    paths = [Path(plan)] if isinstance(plan, str | Path) else [Path(each) for each in plan]
    if len(paths) != 1:
        if any(kind_of(path) == TEXTS for path in paths):
            raise UsageError("plans on texts are reported one at a time")
        from audit.interventions.side_by_side import side_by_side

        return side_by_side(paths, outcome=outcome, cache=cache, workers=workers)
    if kind_of(paths[0]) == TEXTS:
        from audit.interventions.texts.doors import text_report

        if outcome is not None:
            raise UsageError("--outcome is for plans on policies")
        return text_report(paths[0])
    report = read_report(paths[0], cache=cache, workers=workers)
    rows = report.rows(outcome)
    if outcome is not None and not rows:
        known = sorted({effect.outcome for effect in report.analysis.effects})
        raise UsageError(f"no effects on '{outcome}'; there are those on {'; '.join(known)}")
    text = "\n".join(report.lines())
    caption = simulated([(report.plan.model, report.plan.backend)])
    notes = [*report.notes, *([caption] if caption else [])]

    def print_for_people(_: Table) -> None:
        sys.stdout.write(f"{text}\n\n")
        Table(columns=ESSENTIAL, rows=[_short(row) for row in rows], title="All effects", plain=True).print()

    return Table(
        columns=COLUMNS,
        rows=rows,
        title="Effects",
        essential=ESSENTIAL,
        caption=caption,
        notes=notes,
        plain=True,
        print_for_people=print_for_people,
    )


def _short(row: Row) -> Row:
    """Numbers of a table for people; those of a share within what it can be."""
    if row["outcome"] == "share" and row["name"] not in STIMULI:
        ends = {name: row[name] for name in ("estimate", "low", "high") if row[name] is not None}
        row = {**row, **{name: max(-1.0, min(1.0, value)) for name, value in ends.items()}}
    return {name: f"{value:.3g}" if isinstance(value, float) else value for name, value in row.items()}


def planned(plan: Plan, path: Path | None, program: str) -> Table:
    """A plan as a table of its arms.

    Args:
        plan: the plan.
        path: where it was written; None where it was not.
        program: whose `run` follows.
    """
    from audit.interventions.arms import ARMS

    rows = [
        {
            "arm": name,
            "meaning": ARMS[name].meaning,
            "control": ARMS[name].control,
            "answers": number,
            "calls": number * len(plan.units),
        }
        for name, number in plan.arms.items()
    ]
    notes = list(describe(plan))
    if path is not None:
        notes.append(f"written to {path}; go on with: {program} run {path}")
    title = f"Plan {plan.sha256[:12]}: {count(len(plan.units), 'unit')}, {plan.cost.calls:,} calls of {plan.model}"
    return Table(
        columns=("arm", "meaning", "control", "answers", "calls"), rows=rows, title=title, notes=notes, plain=True
    )


def decides_of(plan: Plan) -> Decides:
    """What a plan can decide."""
    return decides(plan.units, plan.arms, plan.family, alpha=plan.alpha, permutations=plan.permutations)


def describe(plan: Plan) -> Iterator[str]:
    """A plan in lines: units, what was left out, hypotheses, cost."""
    drawn = plan.drawn
    for env in sorted({*plan.eligible, *(each.env for each in plan.left_out)}):
        left = sum(each.revisions for each in plan.left_out if each.env == env)
        eligible = plan.eligible.get(env, 0)
        yield f"{env}: {eligible} of {eligible + left} prompts eligible, {drawn[env]} drawn"
        for each in plan.left_out:
            if each.env == env:
                yield f"  {each.revisions} left out: {each.reason}"
    runs = {unit.cluster for unit in plan.units}
    yield f"{count(len(plan.units), 'unit')} of {count(len(runs), 'run')}"
    for hypothesis in plan.family:
        against = (
            f"{hypothesis.arm} against {hypothesis.control}" if hypothesis.control else f"drawn in {hypothesis.arm}"
        )
        yield f"primary: {hypothesis.factor} on {hypothesis.outcome} ({against})"
    if plan.remedies:
        yield f"remedies: {', '.join(plan.remedies)}; those on answers and on acceptance need no calls of their own"
    else:
        yield decides_of(plan).sentence
        yield from _primary(plan)
    cost = plan.cost
    hours = f", about {cost.hours:.1f} h" if cost.hours else ""
    yield (
        f"about {cost.prompt_tokens:,} tokens of prompts and {cost.completion_tokens:,} of answers{hours} "
        f"({cost.basis})"
    )


def _primary(plan: Plan) -> Iterator[str]:
    if asks_shares(plan.arms):
        yield "primary: shares of revisions that follow a rollout by its content, label, place or printed return"
    elif asks_presence(plan.arms):
        yield "primary: which rollout's presence moves edits (R0 against RW, RM and RB)"
    elif not plan.family:
        yield "primary: none; these arms test no hypothesis of the family, so all is exploratory"


def _answered(plan: Plan, path: Path, program: str) -> Table:
    from audit.interventions.answers import read_answers, report_of

    answers, problems = read_answers(plan, path) if answers_file(path).exists() else ({}, [])
    rows = []
    for name, number in plan.arms.items():
        of_arm = [answer for call, answer in answers.items() if call.arm == name]
        rows.append(
            {
                "arm": name,
                "planned": number * len(plan.units),
                "answered": len(of_arm),
                "unreadable": sum(answer.params is None for answer in of_arm),
            }
        )
    missing = plan.cost.calls - len(answers)
    state = f"{missing:,} of {plan.cost.calls:,} calls are missing" if missing else "all calls are answered"
    notes = [*report_of(problems), state, *([] if missing else [f"go on with: {program} report {path}"])]
    columns = ("arm", "planned", "answered", "unreadable")
    return Table(columns=columns, rows=rows, title="Answers", notes=notes, plain=True)
