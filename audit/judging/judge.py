"""Has a model judge critics' answers: judgements go to their file, and their counts are the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from audit.asking.answer_file import AnswerFile
from audit.detectors.detector import Rubric
from audit.detectors.loading import load_detector
from audit.judging.plan import COLUMNS, Plan, make_plan
from audit.judging.questions import Question
from audit.options import Data, Options, RunSelection, options_of
from audit.output.errors import AuditError, Problem, UsageError, count, report
from audit.output.notes import agree, note, print_notes
from audit.output.rows import Table
from audit.sources.judgements import JUDGEMENTS, Judged, default_file, read_judgements
from audit.store import rows_of
from audit.vocabulary.drivers import DRIVERS
from collector.model_options import ModelOptions

if TYPE_CHECKING:
    from audit.asking.together import AskedModel

UNREADABLE: Final = "unreadable"
MEANING: Final = "Percentages are of answers judged readably; quoted: the sentence is in the answer."
COUNTED: Final = ("condition", "env", "variant", "driver", "answers", "pct", "quoted")


class JudgeOptions(RunSelection, ModelOptions, total=False):
    """Keyword arguments of `judge`: the model's, and those that choose rows."""


def judge(
    data: Data,
    *,
    backend: str,
    rubric: str | Path | None = None,
    out: str | Path | None = None,
    sample: int | None = None,
    seed: int = 0,
    longest: int = 40_000,
    again: bool = False,
    concurrency: int | None = None,
    plan: bool = False,
    yes: bool = True,
    **keywords: Unpack[JudgeOptions],
) -> Table:
    """Have a model code what each revision is chiefly justified by, from the critic's answer alone.

    Or have it answer a question of your own, by a rubric. Answers already judged are skipped.

    Args:
        data: records.
        backend: local, ollama or openai.
        rubric: a TOML file with a question and its categories; None for what the main change is justified by.
        out: the file of judgements; else beside the records.
        sample: judge so many answers, drawn at random; None for all.
        seed: of the draw and of the calls.
        longest: leave out answers of more characters.
        again: ask again where no reply could be read.
        concurrency: calls in flight at once; None for 1 with local, else 4.
        plan: ask nothing; the result is what it would cost.
        yes: do not ask on a terminal whether to go on.
        keywords: of the model, as `collect` has them, and which groups, and how records are opened.

    Returns:
        How often each driver or category occurs, by condition, task and method; or the plan.

    Raises:
        UsageError: an option that makes no sense.
        AuditError: no records, a model that fails, a file that cannot be written, or a cost that the user declined.
    """
    from audit.judging.asking import make_judge

    concurrency = concurrency or (1 if backend == "local" else 4)
    model_options = {name: value for name, value in keywords.items() if name in ModelOptions.__optional_keys__}
    selection = {name: value for name, value in keywords.items() if name not in model_options}
    options = options_of(data, RunSelection, selection)
    path = default_file(options.paths) if out is None else Path(out)
    judging = make_judge(
        backend,
        on_wait=lambda reason, seconds: note(f"waiting {seconds:.0f} s: {reason}"),
        on_notice=note,
        in_flight=concurrency,
        **model_options,
    )
    asked = None if rubric is None else _rubric(rubric)
    questions, caption = _questions(options, asked)

    def planned(judged: Sequence[Judged], problems: Sequence[Problem]) -> Plan:
        _report_problems(problems)
        return make_plan(questions, judged, model=judging.name, sample=sample, seed=seed, longest=longest, again=again)

    if plan:
        costs = planned(*(read_judgements(path) if path.exists() else ([], [])))
        notes = [costs.cost(), costs.basis()]
        title = "Answers to judge, and about how many tokens"
        return Table(columns=COLUMNS, rows=list(costs.rows()), title=title, notes=notes)
    with AnswerFile(path, JUDGEMENTS) as file:
        wanted = planned(file.answers, file.problems)
        note(wanted.cost())
        if wanted.open:
            note(wanted.basis())
            if not yes:
                agree()
            _ask(wanted, judging, file, concurrency=concurrency, seed=seed)
        latest = {each.key: each for each in file.answers}
    keys = [(each.question.identity, each.prompt_sha256, wanted.model) for each in wanted.asked]
    counted = ("driver", DRIVERS) if asked is None else ("category", tuple(asked.categories))
    rows = list(_counts([latest[key] for key in keys if key in latest], *counted))
    beside = [f"Judge: {judging.name}. {MEANING}", f"Judgements: {path}", *([caption] if caption else [])]
    title = "Drivers" if asked is None else f"Categories of {asked.name}"
    columns = [*COUNTED[:3], counted[0], *COUNTED[4:]]
    return Table(columns=columns, rows=rows, title=title, caption="\n".join(beside), notes=[caption] if caption else [])


def _rubric(path: str | Path) -> Rubric:
    """The question in a file.

    Raises:
        UsageError: the file has none.
    """
    rubric = load_detector(str(path)).rubric
    if rubric is None:
        raise UsageError(
            f"{path} has no question for a judge; a rubric is a TOML file with a question and [categories]"
        )
    return rubric


def _questions(options: Options, rubric: Rubric | None) -> tuple[list[Question], str | None]:
    """All that could be asked, and the caption for answers that are not a language model's."""
    with options.open() as store:
        questions = [Question.of(row, rubric) for row in rows_of(options.select(store.relation("questions")))]
        if not questions:
            raise AuditError("nothing to judge: no critic's answer in the records")
        return sorted(questions, key=lambda question: question.identity), options.caption(store)


def _ask(plan: Plan, model: AskedModel, file: AnswerFile[Judged], *, concurrency: int, seed: int) -> None:
    from audit.asking.together import ask_all
    from audit.judging.asking import ask_judge

    before = len(file.answers)
    seconds = ask_all(
        plan.open, model, file, lambda asked: ask_judge(asked, model, seed), concurrency=concurrency, verb="judged"
    )
    note(_took(file.answers[before:], seconds))


def _took(judged: Sequence[Judged], seconds: float) -> str:
    """What was judged, and its cost."""
    unreadable = sum(each.code is None for each in judged)
    unquoted = sum(bool(each.sentence) and not each.quoted for each in judged)
    prompts, replies = (
        sum(getattr(each, name) or 0 for each in judged) for name in ("prompt_tokens", "completion_tokens")
    )
    return (
        f"{count(len(judged), 'answer')} judged, {unreadable} of them unreadably, {unquoted} with a sentence that the "
        f"answer does not hold; {prompts:,} tokens of prompts and {replies:,} of replies as the server counts them, "
        f"{seconds:.1f} s"
    )


def _counts(judged: Sequence[Judged], column: str, codes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """How often each code occurs by condition, task and method; percentages are of what could be read."""
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for each in judged:
        groups.setdefault(each.identity[:3], []).append(each)
    for identity in sorted(groups):
        found: Counter[str] = Counter(each.code or UNREADABLE for each in groups[identity])
        quoted: Counter[str] = Counter(each.code for each in groups[identity] if each.code and each.quoted)
        readable = len(groups[identity]) - found[UNREADABLE]
        for code in (*codes, UNREADABLE):
            if not found[code]:
                continue
            shares = (None, None) if code == UNREADABLE else (100 * found[code] / readable, quoted[code])
            yield dict(zip((*COUNTED[:3], column, *COUNTED[4:]), (*identity, code, found[code], *shares), strict=True))


def _report_problems(problems: Sequence[Problem]) -> None:
    if problems:
        note(f"{count(len(problems), 'line')} of the judgements left out:")
        print_notes([f"  {line}" for line in report(problems)], [])
