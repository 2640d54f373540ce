"""From the options of `audit judge` to judgements in their file, and the counts on standard output."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.judging.plan import COLUMNS, Plan, make_plan
from audit.judging.progress import Progress
from audit.judging.questions import Question
from audit.judging.verdicts import DRIVERS
from audit.output.errors import AuditError, Problem, UsageError, count, report
from audit.output.formats import WRITERS, Row
from audit.output.tables import print_table
from audit.reports.relation import simulated_caption
from audit.request import Request, note, tell
from audit.sources.judgements import Judged, default_file, read_judgements
from audit.store import rows_of

if TYPE_CHECKING:
    from audit.judging.asking import Judge
    from audit.judging.file import JudgementFile

UNREADABLE: Final = "unreadable"
MEANING: Final = "Percentages are of answers judged readably; quoted: the sentence stands in the answer."
COUNTED: Final = ("condition", "env", "variant", "driver", "answers", "pct", "quoted")


@dataclass(frozen=True, kw_only=True)
class Judging:
    """What `audit judge` was asked for, records and filters aside."""

    backend: str
    options: dict[str, Any]
    out: Path | None
    sample: int | None
    seed: int
    longest: int
    again: bool
    concurrency: int
    plan_only: bool
    yes: bool


def judge(request: Request, judging: Judging) -> None:
    """Judge what is not judged yet, and print what drivers there are; or the cost alone.

    Raises:
        UsageError: an option that makes no sense, or a cost that was not agreed to.
        AuditError: no records, a model that fails, or a file that cannot be written.
    """
    from audit.judging.asking import make_judge

    path = judging.out or default_file(request.paths)
    model = make_judge(
        judging.backend,
        on_wait=lambda reason, seconds: note(f"waiting {seconds:.0f} s: {reason}"),
        **judging.options,
    )
    questions, caption = _questions(request)
    if judging.plan_only:
        judged, problems = read_judgements(path) if path.exists() else ([], [])
        _tell_problems(problems)
        _print_plan(_plan(questions, judged, model, judging), request.output)
        return
    judged = _judge(questions, model, path, judging)
    notes = [f"Judge: {model.name}. {MEANING}", f"Judgements: {path}"]
    if caption:
        note(caption)
        notes.append(caption)
    _print(COUNTED, list(_counts(judged)), request.output, "Drivers", "\n".join(notes))


def _judge(questions: Sequence[Question], model: Judge, path: Path, judging: Judging) -> list[Judged]:
    """Ask what is to be asked, and give the judgements of all that was asked for."""
    from audit.judging.file import JudgementFile

    with JudgementFile(path) as file:
        _tell_problems(file.problems)
        plan = _plan(questions, file.judged, model, judging)
        note(plan.cost())
        if plan.open:
            note(plan.basis())
            _agree(judging)
            _ask(plan, model, file, judging)
        latest = {each.key: each for each in file.judged}
    keys = [(asked.question.identity, asked.prompt_sha256, plan.model) for asked in plan.asked]
    return [latest[key] for key in keys if key in latest]


def _questions(request: Request) -> tuple[list[Question], str | None]:
    """All that could be asked, and what must be said where answers are not a language model's."""
    with request.open() as store:
        questions = [Question.of(row) for row in rows_of(request.select(store.relation("questions")))]
        if not questions:
            raise AuditError("nothing to judge: no critic's answer in the records")
        return sorted(questions, key=lambda question: question.identity), simulated_caption(request, store)


def _plan(questions: Sequence[Question], judged: Sequence[Judged], model: Judge, judging: Judging) -> Plan:
    return make_plan(
        questions,
        judged,
        model=model.name,
        sample=judging.sample,
        seed=judging.seed,
        longest=judging.longest,
        again=judging.again,
    )


def _agree(judging: Judging) -> None:
    """Ask a person whether to go on; where none is there to be asked, the cost was told and that is enough."""
    if judging.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise AuditError("nothing was asked")


def _ask(plan: Plan, model: Judge, file: JudgementFile, judging: Judging) -> None:
    from audit.judging.asking import Task, ask_all

    tasks = [Task(asked.question, asked.judged.attempts if asked.judged else 0) for asked in plan.open]
    progress = Progress(len(tasks))
    kept = f"the same command goes on from there ({file.path})"
    try:
        with progress:
            ask_all(tasks, model, file, concurrency=judging.concurrency, seed=judging.seed, told=progress.told)
    except UsageError:
        raise
    except AuditError as error:
        if not progress.done:
            raise
        raise AuditError(f"{error}; {progress.done} of {len(tasks)} are judged, {kept}") from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; {progress.done} of {len(tasks)} are judged, {kept}") from None
    note(progress.summary())


def _counts(judged: Sequence[Judged]) -> Iterator[dict[str, Any]]:
    """How often each driver occurs by condition, task and method; percentages are of what could be read."""
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for each in judged:
        groups.setdefault(each.identity[:3], []).append(each)
    for identity in sorted(groups):
        drivers: Counter[str] = Counter(each.driver or UNREADABLE for each in groups[identity])
        quoted: Counter[str] = Counter(each.driver for each in groups[identity] if each.driver and each.quoted)
        readable = len(groups[identity]) - drivers[UNREADABLE]
        for driver in (*DRIVERS, UNREADABLE):
            if not drivers[driver]:
                continue
            shares = (None, None) if driver == UNREADABLE else (100 * drivers[driver] / readable, quoted[driver])
            yield dict(zip(COUNTED, (*identity, driver, drivers[driver], *shares), strict=True))


def _print(columns: Sequence[str], rows: Sequence[Row], output: str, title: str, caption: str | None) -> None:
    if output == "table":
        print_table(columns, rows, title=title, caption=caption)
    else:
        WRITERS[output](columns, rows, sys.stdout, caption and caption.replace("\n", " "))


def _print_plan(plan: Plan, output: str) -> None:
    note(plan.cost())
    note(plan.basis())
    _print(COLUMNS, list(plan.rows()), output, "Answers to judge, and about how many tokens", None)


def _tell_problems(problems: Sequence[Problem]) -> None:
    if problems:
        note(f"{count(len(problems), 'line')} of the judgements left out:")
        tell([f"  {line}" for line in report(problems)], [])
