"""What `audit intervene` and `audit remedy` do with records of texts: plan, run, report, show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from audit.interventions.plan import answers_file, write_plan
from audit.interventions.texts.arms import ARMS
from audit.interventions.texts.effects import proposal
from audit.interventions.texts.evaluating import evaluate
from audit.interventions.texts.plan import TextPlan, make_text_plan, read_text_plan
from audit.interventions.texts.report import candidates_of, text_report_table
from audit.interventions.texts.running import TextAnswer, read_text_answers, run_text_plan
from audit.options import Options
from audit.output.errors import AuditError, UsageError, count, report
from audit.output.rows import Table
from audit.records.lines import open_records

REMEDIES: Final = {"shuffled": "R0", "typical": "RW", "hidden": "N", "letters": "L", "passing": "AP"}
"""Changes of evidence that a loop could make, and their arms."""
CHARACTERS_PER_TOKEN: Final = 4


def revises_texts(request: Options) -> bool:
    """Whether the runs that are asked about revise texts.

    Raises:
        UsageError: some do, and some do not.
        AuditError: there are no records.
    """
    with open_records(request.paths) as records:
        kinds = {run.is_text for run in request.choose(records)}
    if len(kinds) > 1:
        raise UsageError("some of these runs revise texts, others policies; choose with --env or --variant")
    return kinds == {True}


def text_plan(
    request: Options,
    path: Path,
    *,
    backend: str,
    program: str,
    dry_run: bool = False,
    remedies: Sequence[str] = (),
    arms: Sequence[str] = (),
    **fields: Any,
) -> Table:
    """Plan an experiment, and write it unless it is a dry run.

    Args:
        request: the records.
        path: the plan's.
        backend: who is asked.
        program: whose `run` follows.
        dry_run: write nothing.
        remedies: names of `REMEDIES`; all without, where the preset is theirs.
        arms: answers by arm, `RW=8`.
        fields: as `make_text_plan` takes them.

    Raises:
        UsageError: an option that makes no sense.
        AuditError: nothing can be asked, or the plan cannot be written.
    """
    if backend == "simulated":
        raise UsageError("the simulated critic revises policies alone; ask a model: --backend local, ollama or openai")
    if unknown := set(remedies) - REMEDIES.keys():
        raise UsageError(f"unknown remedy '{min(unknown)}' for texts; choose from {', '.join(REMEDIES)}")
    left_out = [f"{arm}=0" for name, arm in REMEDIES.items() if remedies and name not in remedies]
    plan = make_text_plan(request, out=path, backend=backend, arms=[*left_out, *arms], **fields)
    if not dry_run:
        write_plan(plan, path)
    return _planned(plan, None if dry_run else path, program)


def _planned(plan: TextPlan, path: Path | None, program: str) -> Table:
    calls = plan.calls()
    rows = [
        {
            "arm": name,
            "meaning": ARMS[name].meaning,
            "control": ARMS[name].control,
            "answers": number,
            "prompts": sum(name in asked for asked in plan.asked),
            "calls": sum(call.arm == name for call in calls),
        }
        for name, number in plan.arms.items()
    ]
    notes = list(_described(plan))
    if path is not None:
        notes.append(f"written to {path}; go on with: {program} run {path}")
    title = f"Plan {plan.sha256[:12]}: {count(len(plan.units), 'prompt')}, {len(calls):,} calls of {plan.model}"
    columns = ("arm", "meaning", "control", "answers", "prompts", "calls")
    return Table(columns=columns, rows=rows, title=title, notes=notes, plain=True)


def _described(plan: TextPlan) -> Iterator[str]:
    for env in sorted({*plan.eligible, *(each.env for each in plan.left_out)}):
        left = [each for each in plan.left_out if each.env == env]
        eligible = plan.eligible.get(env, 0)
        drawn = sum(unit.env == env for unit in plan.units)
        yield f"{env}: {eligible} of {eligible + sum(each.revisions for each in left)} prompts eligible, {drawn} drawn"
        yield from (f"  {each.revisions} left out: {each.reason}" for each in left)
    runs = len({unit.cluster for unit in plan.units})
    yield f"{count(len(plan.units), 'prompt')} of {count(runs, 'run')}"
    if runs < 2:
        yield "all prompts are of one run: intervals are over prompts, and hold for that run"
    yield f"about {plan.prompt_characters // CHARACTERS_PER_TOKEN:,} tokens of prompts"


def text_run(
    path: Path,
    *,
    concurrency: int | None,
    keep_prompts: bool,
    plan_only: bool,
    scoring: tuple[str | None, float],
    program: str,
) -> Table:
    """Make the calls that have no answer yet, and score what was proposed.

    Args:
        path: the plan's.
        concurrency: calls in flight at once; None for 1 with local, else 4.
        keep_prompts: record prompts as well.
        plan_only: make no calls.
        scoring: `module:function`, or None; and seconds for one candidate.
        program: whose `report` follows.

    Raises:
        AuditError, UsageError: as `run_text_plan` and `evaluate` raise them.
    """
    plan = read_text_plan(path)
    function, time_limit = scoring
    if not plan_only:
        run_text_plan(
            plan, path, concurrency=concurrency or (1 if plan.backend == "local" else 4), keep_prompts=keep_prompts
        )
        if function is not None:
            evaluate(candidates_of(plan, path), path, function, time_limit)
    answers, faults = read_text_answers(plan, path) if answers_file(path).exists() else ({}, [])
    calls = plan.calls()
    rows = []
    for name in plan.arms:
        own = [(call, answer) for call, answer in answers.items() if call.arm == name]
        rows.append(
            {
                "arm": name,
                "planned": sum(call.arm == name for call in calls),
                "answered": len(own),
                "without_text": sum(proposal(plan, call.unit, answer) is None for call, answer in own),
            }
        )
    missing = len(calls) - len(answers)
    state = f"{missing:,} of {len(calls):,} calls are missing" if missing else "all calls are answered"
    notes = [*report(faults), state, *([] if missing else [f"go on with: {program} report {path}"])]
    columns = ("arm", "planned", "answered", "without_text")
    return Table(columns=columns, rows=rows, title="Answers", notes=notes, plain=True)


def text_report(path: Path) -> Table:
    """Report a finished experiment.

    Raises:
        AuditError: it was changed, or calls have no answer yet.
    """
    return text_report_table(path, read_text_plan(path))


def text_show(path: Path, unit: str, *, full: bool) -> Table:
    """The answers to one prompt, arm by arm.

    Args:
        path: the plan's.
        unit: its number from 1, or `ENV/VARIANT/RUN/ITERATION`.
        full: texts are not cut.

    Raises:
        UsageError: there is no such unit.
        AuditError: there are no answers.
    """
    plan = read_text_plan(path)
    names = [str(each) for each in plan.units]
    place = int(unit) - 1 if unit.isdecimal() else names.index(unit) if unit in names else -1
    if not 0 <= place < len(names):
        raise UsageError(f"no unit {unit}: give its number, 1 to {len(names)}, or its name, such as {names[0]}")
    answers, faults = read_text_answers(plan, path)
    rows: list[dict[str, Any]] = [
        {
            "arm": call.arm,
            "replicate": call.replicate,
            "shown": _shown(answer),
            "text": proposal(plan, place, answer),
            "answer": answer.completion,
        }
        for call, answer in sorted(answers.items(), key=lambda each: (list(ARMS).index(each[0].arm), each[0].replicate))
        if call.unit == place
    ]
    if not rows:
        raise AuditError(f"unit {names[place]} has no answers yet; go on with: audit intervene run {path}")
    scores = ", ".join(f"{number}: {score:g}" for number, score in enumerate(plan.units[place].scores, 1))
    return Table(
        columns=("arm", "replicate", "shown", "text", "answer"),
        rows=rows,
        title=f"{names[place]}: scores of the recorded examples {scores}",
        essential=("arm", "shown", "text"),
        notes=report(faults),
        plain=True,
        longest_text=None if full else 160,
    )


def _shown(answer: TextAnswer) -> str:
    """The examples by their numbers in the recorded prompt, and what each was called."""
    found = [
        f"{'another' if each.example < 0 else each.example + 1} as {each.name}{' (lengthened)' if each.longest else ''}"
        for each in answer.shown
    ]
    return ", ".join(found) or "nothing"
