"""Making the calls of a plan on reflection prompts: each is paid once, and its answer is kept before the next."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from audit.asking.answer_file import AnswerFile
from audit.asking.together import ask_all, complete
from audit.interventions.plan import Call, answers_file
from audit.interventions.running import planned_model
from audit.interventions.texts.arms import Asked, ask
from audit.interventions.texts.plan import TextPlan, units_of
from audit.interventions.units import sha256
from audit.output.errors import AuditError, Problem
from audit.output.notes import note
from audit.sources.answer_lines import AnswerLine, AnswerLines, left_out
from audit.vocabulary.keys import RevisionKey
from collector import seeding

SCHEMA: Final = 1


class PlaceLine(msgspec.Struct, frozen=True):
    """What was shown at one place, as `arms.Place` has it."""

    example: int
    name: str
    number: int | None
    longest: bool


class TextAnswer(AnswerLine, frozen=True, kw_only=True):
    """An answer.

    Attributes:
        schema: version of this form.
        text_plan_sha256: of the plan.
        condition, env, variant, run, iteration: the unit.
        arm, replicate: how it was asked, and which of the answers there.
        order: place among all calls of the plan.
        shown: the examples in the order of display.
        prompt_sha256, prompt_characters: of the prompt.
        backend, model, options: who answered.
        seed: of the call.
        error: why the answer cannot be used, where the server says so.
        completion, thinking: the answer.
        prompt_tokens, completion_tokens: null where the backend does not count.
        seconds: wall time.
        prompt: in full, if prompts are kept.
    """

    schema: int = SCHEMA
    text_plan_sha256: str
    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    arm: str
    replicate: int
    order: int
    shown: list[PlaceLine]
    prompt_sha256: str
    prompt_characters: int
    backend: str
    model: str
    options: dict[str, Any]
    seed: int
    error: str | None
    completion: str
    thinking: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    prompt: str | msgspec.UnsetType = msgspec.UNSET

    def shortened(self) -> Iterator[Self]:
        """Without prompt and thinking; then as an answer that cannot be used."""
        prompt = msgspec.UNSET if self.prompt is msgspec.UNSET else left_out(self.prompt)
        shorter = msgspec.structs.replace(self, prompt=prompt, thinking=left_out(self.thinking))
        yield shorter
        yield msgspec.structs.replace(shorter, completion="", error=left_out(self.completion))


ANSWERS: Final = AnswerLines(TextAnswer, "an answer", SCHEMA, "text_plan_sha256")


def run_text_plan(plan: TextPlan, path: Path, *, concurrency: int, keep_prompts: bool = False) -> None:
    """Make the calls of a plan that have no answer yet.

    Args:
        plan: the plan.
        path: its path; answers go beside it.
        concurrency: calls in flight at once.
        keep_prompts: record prompts as well.

    Raises:
        AuditError: the records are not those of the plan, the model is another, or it fails; the file cannot be
            written, or is another plan's.
        KeyboardInterrupt: Ctrl-C; the same command goes on from there.
    """
    model = planned_model(plan.backend, plan.given, plan.model, plan.options, concurrency)
    materials, _ = units_of(plan, path)
    file_path = answers_file(path)
    with AnswerFile(file_path, ANSWERS) as file:
        for problem in file.problems:
            note(f"{problem}")
        answered = answered_calls(plan, file_path, file.answers)
        waiting = [(order, call) for order, call in enumerate(plan.calls()) if call not in answered]

        async def ask_one(each: tuple[int, Call]) -> TextAnswer:
            order, call = each
            rng = seeding.generator(plan.seed, *plan.purpose(call), "design")
            asked, began = ask(call.arm, materials[call.unit], rng, call.replicate), time.monotonic()
            completion = await complete(model, asked.prompt, plan.call_seed(call), None)
            return TextAnswer(
                text_plan_sha256=plan.sha256,
                **plan.units[call.unit].key._asdict(),
                arm=call.arm,
                replicate=call.replicate,
                order=order,
                shown=_lines(asked),
                prompt_sha256=sha256(asked.prompt),
                prompt_characters=len(asked.prompt),
                backend=plan.backend,
                model=plan.model,
                options=model.options,
                seed=plan.call_seed(call),
                error=completion.fault or completion.cut,
                completion=completion.text,
                thinking=completion.thinking,
                prompt_tokens=completion.prompt_tokens,
                completion_tokens=completion.completion_tokens,
                seconds=time.monotonic() - began,
                prompt=asked.prompt if keep_prompts else msgspec.UNSET,
            )

        if waiting:
            ask_all(waiting, model, file, ask_one, concurrency=concurrency, verb="answered")


def _lines(asked: Asked) -> list[PlaceLine]:
    return [PlaceLine(each.example, each.name, each.number, each.longest) for each in asked.shown]


def answered_calls(plan: TextPlan, path: Path, answers: Iterable[TextAnswer]) -> dict[Call, TextAnswer]:
    """Answers by call; of two to one call the first counts.

    Raises:
        AuditError: an answer is not to this plan, or not by its model.
    """
    places = {unit.key: place for place, unit in enumerate(plan.units)}
    planned = set(plan.calls())
    found: dict[Call, TextAnswer] = {}
    for answer in answers:
        if answer.text_plan_sha256 != plan.sha256:
            raise AuditError(f"{path} holds answers to another plan ({answer.text_plan_sha256[:12]}…)")
        key = RevisionKey(answer.condition, answer.env, answer.variant, answer.run, answer.iteration)
        call = Call(places.get(key, -1), answer.arm, answer.replicate)
        if call not in planned:
            raise AuditError(f"{path} holds an answer to a call that the plan does not have: {key} {call.arm}")
        if answer.model != plan.model or answer.backend != plan.backend:
            raise AuditError(f"{path} holds an answer by {answer.model}; the plan asks {plan.model}")
        found.setdefault(call, answer)
    return found


def read_text_answers(plan: TextPlan, path: Path) -> tuple[dict[Call, TextAnswer], list[Problem]]:
    """The answers to a plan, and lines that hold none.

    Raises:
        AuditError: there are none, or they are not this plan's.
    """
    file = answers_file(path)
    if not file.exists():
        raise AuditError(f"no answers yet: no file {file}; make it with: audit intervene run {path}")
    lines, problems = ANSWERS.read(file)
    return answered_calls(plan, file, lines), problems
