"""Answers to the calls of a plan as they are kept: one JSON line each, beside the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from audit.interventions.arms import NOTHING
from audit.interventions.plan import Call, Plan, answers_file
from audit.interventions.showing import ROLES
from audit.output.errors import AuditError, Problem, count, report
from audit.sources.answer_lines import AnswerLine, AnswerLines, left_out
from audit.vocabulary.keys import RevisionKey
from collector.prompt_parts import Block

SCHEMA: Final = 1
_SHOWN: Final = (1, 2, 3)
"""How many rollouts a prompt can show, but for the arm that shows none."""


class ShownLine(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout as a call showed it.

    Attributes:
        content: its true role.
        name: its heading.
        label: the role that the heading stated; None for `Rollout A`.
        rollout: its number among the K.
        number: content whose return was printed; None where returns were hidden.
        return_: the return as it was printed.
        length: steps, as printed.
    """

    content: str
    name: str
    label: str | None
    rollout: int
    number: str | None
    return_: float | None = msgspec.field(name="return")
    length: int | None

    @classmethod
    def of(cls, content: str, block: Block, number: str | None) -> Self:
        """A rollout of that content in a prompt, with the return of the content `number`."""
        return cls(
            content=content,
            name=block.name,
            label=block.label if block.label in ROLES else None,
            rollout=block.rollout,
            number=number,
            return_=block.value,
            length=block.steps,
        )


class AnswerOf(AnswerLine, frozen=True, kw_only=True):
    """An answer.

    Attributes:
        schema: version of this form.
        plan_sha256: of the plan.
        condition, env, variant, run, iteration: the unit.
        arm, replicate: how it was asked, and which of the answers there.
        order: place among all calls of the plan.
        shown: the rollouts in the order of display.
        frame: the arm whose frame was drawn, where one was.
        prompt_sha256, base_prompt_sha256: of the prompt, and of the recorded one.
        prompt_characters: length of the prompt.
        backend, model, options: who answered.
        seed: of the call.
        params: the parameter vector; null where none could be read.
        error: why, else null.
        completion, thinking: the answer.
        prompt_tokens, completion_tokens: null where the backend does not count.
        seconds: wall time.
        started_at: UTC.
        prompt: in full, if prompts are kept.
        mean_logprob: of the answer's tokens, where the backend gives it.
        truth: the simulated critic's own account, for calibration.
    """

    schema: int = SCHEMA
    plan_sha256: str
    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    arm: str
    replicate: int
    order: int
    shown: list[ShownLine]
    prompt_sha256: str
    base_prompt_sha256: str
    prompt_characters: int
    backend: str
    model: str
    options: dict[str, Any]
    seed: int
    params: list[float] | None
    error: str | None
    completion: str
    thinking: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    started_at: str
    prompt: str | msgspec.UnsetType = msgspec.UNSET
    mean_logprob: float | msgspec.UnsetType = msgspec.UNSET
    truth: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    frame: str | msgspec.UnsetType = msgspec.UNSET

    def shortened(self) -> Iterator[Self]:
        """Without prompt and thinking; then as an answer that cannot be read."""
        prompt = msgspec.UNSET if self.prompt is msgspec.UNSET else left_out(self.prompt)
        shorter = msgspec.structs.replace(self, prompt=prompt, thinking=left_out(self.thinking))
        yield shorter
        reason = left_out(self.completion)
        yield msgspec.structs.replace(shorter, completion=reason, params=None, error=reason)

    @property
    def unit(self) -> RevisionKey:
        """What identifies the unit."""
        return RevisionKey(self.condition, self.env, self.variant, self.run, self.iteration)


ANSWERS: Final = AnswerLines(AnswerOf, "an answer", SCHEMA, "plan_sha256")


def calls_answered(plan: Plan, path: Path, answers: Iterable[AnswerOf]) -> dict[Call, AnswerOf]:
    """The answers by call; of several to one call the first counts.

    Args:
        plan: the plan.
        path: of the answers, for messages.
        answers: the lines.

    Raises:
        AuditError: an answer is not to this plan, not by its model, or cannot be one to its call.
    """
    places = plan.places()
    planned = set(plan.calls())
    found: dict[Call, AnswerOf] = {}
    for answer in answers:
        if answer.plan_sha256 != plan.sha256:
            raise AuditError(f"{path} holds answers to another plan ({answer.plan_sha256[:12]}…); name another plan")
        call = Call(places.get(answer.unit, -1), answer.arm, answer.replicate)
        if call not in planned:
            raise AuditError(f"{path} holds an answer to a call that the plan does not have: {answer.unit} {call.arm}")
        if answer.model != plan.model or answer.backend != plan.backend:
            raise AuditError(f"{path} holds an answer by {answer.model}; the plan asks {plan.model}")
        params, shown = answer.params, _SHOWN if call.arm != NOTHING else (0,)
        if (params is not None and len(params) != len(plan.units[call.unit].params)) or len(answer.shown) not in shown:
            raise AuditError(f"{path} holds an answer that does not fit its call: {answer.unit} {call.arm}")
        found.setdefault(call, answer)
    return found


def read_answers(plan: Plan, path: Path) -> tuple[dict[Call, AnswerOf], list[Problem]]:
    """The answers to a plan, and lines that hold none.

    Args:
        plan: the plan.
        path: the plan's own path.

    Raises:
        AuditError: there are none, or they are not this plan's.
    """
    file = answers_file(path)
    if not file.exists():
        raise AuditError(f"no answers yet: no file {file}; make it with: audit intervene run {path}")
    lines, problems = ANSWERS.read(file)
    return calls_answered(plan, file, lines), problems


def report_of(problems: list[Problem]) -> list[str]:
    """Lines for the user about lines of the file that hold no answer."""
    if not problems:
        return []
    return [f"{count(len(problems), 'line')} of the answers left out:", *(f"  {line}" for line in report(problems))]
