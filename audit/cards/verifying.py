"""`audit critic verify`: a card is made again from its answers, and what does not fit is named by its line."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from audit.cards.card import Card, read_card, source_of, written
from audit.cards.examining import CARD, PLAN, RECORDS, examined_in, plan_of, settings, suite_of
from audit.cards.filling import Examined
from audit.cards.page import write_page
from audit.cards.suite import Suite, write_records
from audit.interventions.answers import read_answers
from audit.interventions.making import units_of
from audit.interventions.plan import ENDING, Plan, answers_file, read_plan
from audit.output.errors import AuditError, count
from audit.output.rows import Table

if TYPE_CHECKING:
    from audit.interventions.answers import AnswerOf
    from audit.interventions.plan import Call


def critic_verify(folder: str | Path, *, workers: int | None = None, cache: bool = True) -> Table:
    """Make a card again from its answers, and compare it byte for byte.

    Args:
        folder: of the examination.
        workers: where policies are run.
        cache: whether returns of policies that were run before may be used.

    Returns:
        What was checked, a row each.

    Raises:
        AuditError: something is not as it was; the message names the line.
    """
    folder = Path(folder)
    card, plan = read_card(folder), read_plan(folder / PLAN)
    suite = suite_of(folder, plan)
    _same_answers(card, folder)
    answers, _ = read_answers(plan, folder / PLAN)
    _same_plan(plan, folder, suite)
    _same_calls(plan, folder, answers)
    examined = examined_in(folder, cache=cache, workers=workers)
    again = written(examined.card)
    found = (folder / CARD).read_bytes()
    if again != found:
        raise AuditError(_first_difference(folder / CARD, found, again))
    _same_pages(folder, examined)
    rows = [
        {"checked": "suite", "what": f"{suite.name}, {suite.sha256[:12]}"},
        {"checked": "plan", "what": f"the prompts of {count(len(plan.units), 'unit')}, under {len(plan.arms)} arms"},
        {"checked": "answers", "what": f"{len(answers):,}, each to its prompt, and its parameters as it states them"},
        {"checked": "card", "what": "made again with its pages, the same byte for byte"},
    ]
    return Table(columns=("checked", "what"), rows=rows, title=f"{card.name}: the card holds", plain=True)


def _same_answers(card: Card, folder: Path) -> None:
    path = answers_file(folder / PLAN)
    found = source_of(path)
    if found.sha256 == card.answers.sha256:
        return
    pairs = zip(card.answers.lines, found.lines, strict=False)
    place = next((number for number, (before, now) in enumerate(pairs, start=1) if before != now), None)
    place = place or min(len(card.answers.lines), len(found.lines)) + 1
    raise AuditError(f"{path}:{place} is not the line that the card was made from")


def _same_plan(plan: Plan, folder: Path, suite: Suite) -> None:
    """Refuse a plan that asks something else than the suite's.

    Raises:
        AuditError: it does.
    """
    who = {name: getattr(plan, name) for name in ("backend", "model", "options", "given")}
    with tempfile.TemporaryDirectory() as name:
        write_records(suite.of_size(plan.preset)[: len(plan.units)], Path(name) / RECORDS)  # type: ignore[arg-type]
        again = plan_of(suite, plan.preset, Path(name) / RECORDS, Path(name) / PLAN, who)
    for field in plan.__struct_fields__:
        if field not in {"sha256", "version", "cost"} and getattr(plan, field) != getattr(again, field):
            raise AuditError(f"{folder / PLAN}: {field} is not that of {suite.name}, {plan.preset}; ask it anew")


def _same_calls(plan: Plan, folder: Path, answers: Mapping[Call, AnswerOf]) -> None:
    """Refuse answers to other prompts, and parameters that their texts do not state.

    Raises:
        AuditError: there are such; the message names the line.
    """
    from audit.interventions.running import Asking, read_params
    from collector.llm.protocol import Completion

    evidence, tasks = units_of(plan, folder / PLAN)
    asking = Asking(plan, evidence, tasks)
    structured = bool(plan.options.get("structured"))
    for number, (call, answer) in enumerate(answers.items(), start=1):
        where = f"{folder / PLAN}"[: -len(".json")] + f"{ENDING}:{number}"
        asked = asking.prompt(call)
        if asking.line(0, call, asked, Completion(""), seconds=0, started_at="").prompt_sha256 != answer.prompt_sha256:
            raise AuditError(f"{where} is an answer to another prompt than the suite's")
        if answer.seed != plan.call_seed(call) or settings(answer.options) != settings(plan.options):
            raise AuditError(f"{where} was asked with another seed, or with other options, than the plan's")
        if answer.params is None:
            continue
        task = tasks[plan.units[call.unit].cluster]
        if read_params(Completion(answer.completion), task, structured=structured)[0] != answer.params:
            raise AuditError(f"{where} has other parameters than its text")


def _same_pages(folder: Path, examined: Examined) -> None:
    """Refuse pages that say something else than the card; folders without pages have none to refuse.

    Raises:
        AuditError: one does.
    """
    with tempfile.TemporaryDirectory() as name:
        write_page(Path(name), examined)
        for page in sorted(Path(name).iterdir()):
            kept = folder / page.name
            if kept.exists() and kept.read_bytes() != page.read_bytes():
                raise AuditError(
                    f"{kept} is not the page of this card: it was changed, or written by another version; the same "
                    "audit critic writes it anew"
                )


def _first_difference(path: Path, found: bytes, again: bytes) -> str:
    pairs = zip(found.splitlines(), again.splitlines(), strict=False)
    number, before, now = next(
        ((number, *each) for number, each in enumerate(pairs, start=1) if each[0] != each[1]), (0, b"", b"")
    )
    if b'"value"' not in before and any(name in before for name in (b"gymnasium", b"mujoco", b"numpy", b"salience")):
        return f"{path}:{number}: made with {before.decode().strip(' ,')}, here it is {now.decode().strip(' ,')}"
    return f"{path}:{number} is {before.decode().strip(' ,')}, but its answers give {now.decode().strip(' ,')}"
