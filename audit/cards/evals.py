"""Cards of Inspect's logs: the answers in a `.eval` file become those of an examination."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from audit.asking.answer_file import AnswerFile
from audit.cards.asking import BACKEND, asking_of, names_of
from audit.cards.examining import CARD, PLAN, SIZES, card_table, examined_in, planned, write_card
from audit.cards.logs import Header, Log, Message, Sample, completion_of, open_log, text_of
from audit.cards.suite import Size, packaged
from audit.interventions.answers import ANSWERS, AnswerOf, calls_answered
from audit.interventions.plan import Call, Plan, answers_file
from audit.interventions.running import Asking, refuse_unsound
from audit.output.errors import AuditError, count
from audit.output.rows import Table
from collector.spec import slug

_MADE_ANEW: Final = frozenset({"sha256", "version", "cost"})
"""What differs between plans of one examination that other versions of the program made."""


def critic_from(
    log: str | Path, *, out: str | Path | None = None, workers: int | None = None, cache: bool = True
) -> Table:
    """Make the card of a log of Inspect's task `audit/critic`, and ask nothing.

    Args:
        log: the log, `.eval` or `.json`.
        out: the folder of the examination; None for one named by model and size below `critics`.
        workers: threads or processes that run policies; None for one per core.
        cache: whether returns of policies that were run before may be used, and new ones kept.

    Returns:
        The numbers of the card.

    Raises:
        AuditError: the log cannot be read, is of something else, or lacks answers; the folder holds something else.
    """
    path = Path(log)
    found = open_log(path)
    size, units = _size_of(found.header, path)
    who: dict[str, Any] = {
        "backend": BACKEND,
        "model": found.header.eval.model,
        "options": _options(found.header),
        "given": {},
    }
    _refuse_sameness(who["options"], path)
    asking = asking_of(packaged(), size, who, units)
    answers = _answers(found, asking, path)
    refuse_unsound(asking.plan, answers)
    folder = Path(out) if out is not None else Path("critics") / f"{slug(who['model'])}-{size}"
    plan = planned(folder, size, None, who, units=units)
    _keep(plan, asking.plan, answers, folder)
    examined = examined_in(folder, cache=cache, workers=workers)
    write_card(folder, examined)
    return card_table(examined.card, [f"the card: {folder / CARD}; as a page: {folder / 'index.html'}"])


def _size_of(header: Header, path: Path) -> tuple[Size, int | None]:
    """The size that was asked, and of how many units.

    Raises:
        AuditError: the log is of another task, another suite, or was run in another way.
    """
    spec, suite = header.eval, packaged()
    about = spec.metadata or {}
    size, digest = about.get("size"), about.get("suite")
    if spec.task.rpartition("/")[2] != "critic" or not isinstance(digest, str) or size not in SIZES:
        raise AuditError(f"{path} is a log of {spec.task}, and not of audit/critic")
    if digest != suite.sha256:
        raise AuditError(
            f"{path} asked another suite ({digest[:12]}…) than this version's {suite.name} ({suite.sha256[:12]}…); "
            "read it with the version that asked it"
        )
    if (spec.config.epochs or 1) > 1:
        raise AuditError(f"{path} asked every prompt in {spec.config.epochs} epochs; run the task with one")
    units = about.get("units")
    return cast(Size, size), units if isinstance(units, int) else None


def _options(header: Header) -> dict[str, Any]:
    """What decides the answers besides the prompts: the options of all calls, and the version of Inspect."""
    given = {**header.eval.model_generate_config, **header.plan.config}
    version = header.eval.packages.get("inspect_ai")
    return {**{name: given[name] for name in sorted(given) if given[name] is not None}, "inspect_ai": version}


def _refuse_sameness(options: Mapping[str, Any], path: Path) -> None:
    """Refuse what makes the answers others than those to the suite's prompts.

    Raises:
        AuditError: there was a system message, or no randomness.
    """
    if options.get("system_message"):
        raise AuditError(f"{path} was asked with a system message, and the suite has none; run the task without")
    if options.get("temperature") == 0:
        raise AuditError(
            f"{path} was asked at temperature 0, where there is one answer to a prompt and no distribution; run the "
            "task with --temperature 1"
        )


def _answers(log: Log, asking: Asking, path: Path) -> dict[Call, AnswerOf]:
    """The answers of a log, in the order of the calls.

    Raises:
        AuditError: one is to another prompt, some are missing, or there are several to one call.
    """
    plan, names = asking.plan, names_of(asking.plan)
    orders = {call: order for order, call in enumerate(names.values())}
    found: dict[Call, AnswerOf] = {}
    for sample in log.samples:
        call = names.get(str(sample.id))
        if call is None:
            raise AuditError(f"{path}: sample {sample.id} does not belong to the suite's {plan.preset} size")
        if sample.error is not None or sample.invalidation is not None or not sample.output.choices:
            continue
        if call in found:
            raise AuditError(f"{path}: sample {sample.id} is there more than once; run the task with one epoch")
        asked = asking.prompt(call)
        if not _is_asked(sample, asked.prompt):
            raise AuditError(f"{path}: sample {sample.id} was asked something else than the suite's prompt")
        if sample.model_fallbacks:
            raise AuditError(f"{path}: sample {sample.id} was answered by another model than {plan.model}")
        found[call] = asking.line(
            orders[call],
            call,
            asked,
            completion_of(sample.output, sample.attachments),
            seconds=next((each for each in _times(sample) if each is not None), 0.0),
            started_at=_utc(sample.started_at or log.header.eval.created),
        )
    if missing := len(names) - len(found):
        config = log.header.eval.config
        is_part = config.limit is not None or config.sample_id is not None
        todo = "run the task without --limit and --sample-id" if is_part else "run it again with inspect eval-retry"
        raise AuditError(f"{missing:,} of {count(len(names), 'call')} have no answer in {path}; {todo}")
    return dict(sorted(found.items(), key=lambda each: each[1].order))


def _is_asked(sample: Sample, prompt: str) -> bool:
    """Whether a prompt was all that was said before the answer."""
    chat = [Message("user", sample.input)] if isinstance(sample.input, str) else sample.input
    said = [each for place, each in enumerate(sample.messages) if each.role != "assistant" or not place]
    return all(
        [each.role for each in asked] == ["user"] and text_of(asked[0], sample.attachments) == prompt
        for asked in ([chat, said] if said else [chat])
    )


def _times(sample: Sample) -> tuple[float | None, ...]:
    """How long a model took, the best account first."""
    return sample.output.time, sample.working_time, sample.total_time


def _utc(text: str) -> str:
    """A time as answers have it."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="seconds")
    except ValueError:
        return text


def _keep(plan: Plan, asked: Plan, answers: Mapping[Call, AnswerOf], folder: Path) -> None:
    """Write answers beside the plan of a folder, in which others may be already.

    Args:
        plan: of the folder.
        asked: that the answers are to.
        answers: all of them.
        folder: of the examination.

    Raises:
        AuditError: others are there, or they cannot be written.
    """
    for field in plan.__struct_fields__:
        if field not in _MADE_ANEW and getattr(plan, field) != getattr(asked, field):
            raise AuditError(f"{folder / PLAN}: {field} is not that of this log; name another --out")
    path = answers_file(folder / PLAN)
    lines = {
        call: ANSWERS.line_of(msgspec.structs.replace(each, plan_sha256=plan.sha256))[0]
        for call, each in answers.items()
    }
    with AnswerFile(path, ANSWERS) as file:
        kept = calls_answered(plan, path, file.answers)
        if any(lines[call] != each for call, each in kept.items()):
            raise AuditError(f"{path} holds other answers of {plan.model} than this log; name another --out")
        _, error = file.append([each for call, each in lines.items() if call not in kept])
        if error is not None:
            raise error
