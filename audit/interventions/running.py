"""Making the calls of a plan: each is paid once, and its answer is on the disk before the next."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import msgspec
from msgspec import UNSET

from audit.asking.answer_file import AnswerFile
from audit.asking.together import AskedModel, ask_all, complete, open_model
from audit.interventions.answers import ANSWERS, AnswerOf, ShownLine, calls_answered
from audit.interventions.arms import Asked, ask
from audit.interventions.effects.validity import capped
from audit.interventions.making import units_of
from audit.interventions.outcomes import read_gains
from audit.interventions.plan import Call, Plan, answers_file
from audit.interventions.showing import Evidence
from audit.interventions.units import sha256
from audit.output.errors import AuditError, UsageError, count
from audit.output.notes import note
from audit.vocabulary.keys import RunKey
from collector import policy, seeding
from collector.llm.form import vector_form
from collector.llm.protocol import Completion
from collector.tasks import Task

REPEATED: Final = 0.2
"""Share of repeated answers to one prompt above which a response cache is suspected."""
FEWEST_CUT: Final = 4
"""Prompts with the same, largest number of tokens from which on cuts are suspected."""
LOOK_EVERY: Final = 50
"""Calls between looks at whether answers are sound."""
FEWEST_PAIRS: Final = 10
"""Fewest pairs of answers to one prompt from which this is judged."""


def run_plan(plan: Plan, path: Path, *, concurrency: int, keep_prompts: bool = False) -> tuple[int, int]:
    """Make the calls of a plan that have no answer yet.

    Args:
        plan: the plan.
        path: its path; answers go beside it.
        concurrency: calls in flight at once.
        keep_prompts: record prompts as well.

    Returns:
        Calls that were made, and calls of the plan.

    Raises:
        AuditError: the records are not those of the plan, the model is another, or it fails; the file cannot be
            written, or is another plan's.
        KeyboardInterrupt: Ctrl-C; the same command goes on from there.
    """
    model = planned_model(plan.backend, plan.given, plan.model, plan.options, concurrency)
    evidence, tasks = units_of(plan, path)
    file_path = answers_file(path)
    with AnswerFile(file_path, ANSWERS) as file:
        for problem in file.problems:
            note(f"{problem}")
        answered = calls_answered(plan, file_path, file.answers)
        calls = plan.calls()
        refuse_unsound(plan, answered)
        waiting = [(order, call) for order, call in enumerate(calls) if call not in answered]
        if waiting:
            asking = Asking(plan, evidence, tasks, keep_prompts=keep_prompts)
            if plan.backend == "local":
                waiting = grouped(waiting, asking)
            looked = len(file.answers)

            async def ask_soundly(each: tuple[int, Call]) -> AnswerOf:
                nonlocal looked
                if len(file.answers) >= looked + LOOK_EVERY:
                    looked = len(file.answers)
                    refuse_unsound(plan, calls_answered(plan, file_path, file.answers))
                return await asking.ask(model, *each)

            seconds = ask_all(waiting, model, file, ask_soundly, concurrency=concurrency, verb="answered")
            fresh = file.answers[len(file.answers) - len(waiting) :]
            note(_took(fresh, seconds))
        answered = calls_answered(plan, file_path, file.answers)
        refuse_unsound(plan, answered)
    if len(answered) == len(calls):
        # Returns are kept between audits, so that the report need not wait for them.
        read_gains(plan, answered, tasks, cache=True)
    return len(waiting), len(calls)


def grouped(waiting: Sequence[tuple[int, Call]], asking: Asking) -> list[tuple[int, Call]]:
    """Calls in their random order, but those with the same prompt one after another.

    A model in this process does not drift, and it reads a prompt that it has just read in a fraction of the time.
    """
    groups: dict[tuple[int, str], list[tuple[int, Call]]] = defaultdict(list)
    for order, call in waiting:
        groups[call.unit, sha256(asking.prompt(call).prompt)].append((order, call))
    return [each for group in groups.values() for each in group]


class Asking:
    """Makes the prompts of a plan, and lines of answers to them.

    Args:
        plan: the plan.
        evidence: what the arms of each unit are made from.
        tasks: by run.
        keep_prompts: record prompts as well.
    """

    def __init__(
        self,
        plan: Plan,
        evidence: Sequence[Evidence],
        tasks: Mapping[RunKey, Task],
        *,
        keep_prompts: bool = False,
    ) -> None:
        self.plan, self.evidence, self.tasks = plan, evidence, tasks
        self.keep_prompts = keep_prompts

    def prompt(self, call: Call) -> Asked:
        """The prompt of a call; the same whenever it is made."""
        rng = seeding.generator(self.plan.seed, *self.plan.purpose(call), "design")
        return ask(call.arm, self.evidence[call.unit], rng, call.replicate)

    async def ask(self, model: AskedModel, order: int, call: Call) -> AnswerOf:
        """Make a call."""
        asked, began = self.prompt(call), time.monotonic()
        started_at = datetime.now(UTC).isoformat(timespec="seconds")
        task = self.tasks[self.plan.units[call.unit].cluster]
        completion = await complete(model, asked.prompt, self.plan.call_seed(call), vector_form(task.space))
        line = self.line(order, call, asked, completion, seconds=time.monotonic() - began, started_at=started_at)
        return msgspec.structs.replace(line, options=model.options)

    def line(
        self, order: int, call: Call, asked: Asked, completion: Completion, *, seconds: float, started_at: str
    ) -> AnswerOf:
        """A completion as a line of the file of answers.

        Args:
            order: place among all calls of the plan.
            call: what was asked.
            asked: its prompt.
            completion: the answer.
            seconds: wall time.
            started_at: UTC.
        """
        plan = self.plan
        unit = plan.units[call.unit]
        params, error = read_params(
            completion, self.tasks[unit.cluster], structured=bool(plan.options.get("structured"))
        )
        return AnswerOf(
            plan_sha256=plan.sha256,
            **unit.key._asdict(),
            arm=call.arm,
            replicate=call.replicate,
            order=order,
            shown=[ShownLine.of(each.content, each.block, each.number) for each in asked.shown],
            prompt_sha256=sha256(asked.prompt),
            base_prompt_sha256=unit.prompt_sha256,
            prompt_characters=len(asked.prompt),
            backend=plan.backend,
            model=plan.model,
            options=plan.options,
            seed=plan.call_seed(call),
            params=params,
            error=error,
            completion=completion.text,
            thinking=completion.thinking,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            seconds=seconds,
            started_at=started_at,
            prompt=asked.prompt if self.keep_prompts else UNSET,
            mean_logprob=fmean(value for _, value in completion.logprobs) if completion.logprobs else UNSET,
            truth=UNSET if completion.truth is None else completion.truth,
            frame=UNSET if asked.frame is None else asked.frame,
        )


def refuse_unsound(plan: Plan, answered: Mapping[Call, AnswerOf]) -> None:
    """Refuse answers from which nothing can be concluded: those of a cache, and those to prompts that were cut.

    Under random sampling hardly any two answers are the same. Only successive ones to one and the same prompt of a unit
    are compared, those in which nothing changed left out, and those that cannot be read: a critic may well leave a
    policy as it is, or refuse, twice in the same words.

    Raises:
        AuditError: there are such.
    """
    by_prompt: dict[tuple[int, str], list[AnswerOf]] = defaultdict(list)
    for call, answer in sorted(answered.items()):
        by_prompt[call.unit, answer.prompt_sha256].append(answer)
    same = [
        first.completion == second.completion and first.thinking == second.thinking
        for (unit, _), answers in by_prompt.items()
        for first, second in pairwise(answers)
        if first.params not in (None, plan.units[unit].params)
    ]
    if len(same) >= FEWEST_PAIRS and sum(same) > REPEATED * len(same):
        raise AuditError(
            f"{sum(same)} of {len(same)} pairs of answers to one prompt are the same, word for word: a cache of "
            "responses, or sampling without randomness; turn the cache off, or sample at a temperature above 0 "
            f"({plan.model})"
        )
    cut = capped([(answer.prompt_tokens, answer.prompt_characters) for answer in answered.values()])
    if cut >= FEWEST_CUT:
        raise AuditError(
            f"{cut} prompts of different lengths have the same, largest number of tokens, so that {plan.model} reads "
            "only a part of them; give the server a larger context (--num-ctx), and make a new plan"
        )


def model_of(backend: str, given: Mapping[str, Any], concurrency: int) -> AskedModel:
    """The model that is asked.

    Raises:
        UsageError: no such backend, an option that it does not have, or a temperature of 0.
    """
    if given.get("temperature") == 0:
        raise UsageError(
            "at temperature 0 there is one answer to a prompt and no distribution; leave --temperature out"
        )
    model = open_model(
        backend,
        on_wait=lambda reason, seconds: note(f"waiting {seconds:.0f} s: {reason}"),
        on_notice=note,
        in_flight=concurrency,
        reuse_prompts=True,
        **given,
    )
    if model.options.get("temperature") == 0:
        raise UsageError("the model is sampled at temperature 0, so there is no distribution; give --temperature 1")
    return model


def planned_model(
    backend: str, given: Mapping[str, Any], name: str, options: Mapping[str, Any], concurrency: int
) -> AskedModel:
    """The planned model.

    Raises:
        AuditError: it is another one by now.
    """
    model = model_of(backend, given, concurrency)
    stated = {option: value for option, value in model.options.items() if option != "reproducible"}
    planned = {option: value for option, value in options.items() if option != "reproducible"}
    if model.name != name or stated != planned:
        what = f"{model.name}, not {name}" if model.name != name else "set otherwise than planned"
        raise AuditError(f"the model is {what}; a plan can only be run with its own model: make a new plan")
    return model


def read_params(completion: Completion, task: Task, *, structured: bool) -> tuple[list[float] | None, str | None]:
    """The parameter vector of an answer, or why it has none; read as in the search."""
    if completion.fault is not None:
        return None, completion.fault
    whole = completion.settled
    texts = [whole.partition("\n")[0], whole] if structured else [whole]
    error = ""
    for text in texts:
        try:
            return policy.from_text(task.space, text), None
        except policy.UnreadableAnswer as reason:
            error = completion.cut or str(reason)
    return None, error


def _took(answers: Sequence[AnswerOf], seconds: float) -> str:
    unreadable = sum(each.params is None for each in answers)
    prompts = sum(each.prompt_tokens or 0 for each in answers)
    replies = sum(each.completion_tokens or 0 for each in answers)
    return (
        f"{count(len(answers), 'call')} made, {unreadable} of the answers unreadable; {prompts:,} tokens of prompts "
        f"and {replies:,} of answers as the backend counts them, {seconds:.1f} s"
    )
