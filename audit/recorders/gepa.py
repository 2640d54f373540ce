"""A callback that records GEPA: `gepa.optimize(…, callbacks=[recorder])`.

With DSPy, `dspy.GEPA(…, gepa_kwargs={"callbacks": [recorder]})`. There GEPA's events lack the prompt and the answer,
which DSPy gives to the callbacks of the model: `reflection_lm=dspy.LM(…, callbacks=[recorder])`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from audit.recorders.candidates import Item
from audit.recorders.gepa_acceptance import PairedAcceptance
from audit.recorders.iteration import Iteration
from audit.recorders.messages import answer_fields, plain_text, words
from audit.recorders.recorder import Recorder
from audit.recorders.run_files import RecorderError
from audit.recorders.troubles import Troubles, guarded
from collector.records import SelectionRule

__all__ = ["GEPARecorder", "PairedAcceptance"]

Event = Mapping[str, Any]

_DEEPEST_HEADING: Final = 6
_NO_REASON: Final = frozenset({"new_instruction", "improved_instruction", "completed"})
"""Fields of DSPy's answers that do not give reasons."""
_LOG: Final = "see the log of GEPA"


@dataclass(kw_only=True)
class _Proposal:
    """What a reflector proposed: the components that change, or None where its answer has none."""

    text: dict[str, str] | None
    prompt: str | None
    answer: str | None
    scores: list[float] | None = None


@dataclass(kw_only=True)
class _Task:
    """A parent and its minibatch: one iteration of the records."""

    text: dict[str, str]
    ids: list[str] = field(default_factory=list)
    scores: list[float] | None = None
    skipped: bool = False
    examples: list[Mapping[str, Any]] | None = None


@dataclass
class _Iteration:
    """What has happened in the current iteration of GEPA, whose events carry no number of their task."""

    tasks: list[_Task] = field(default_factory=list)
    proposals: list[_Proposal] = field(default_factory=list)
    joined: list[Event] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    error: str | None = None
    started: float = field(default_factory=time.monotonic)


class GEPARecorder:
    """Records each revision that GEPA tries, those that it rejects included. It imports nothing of GEPA.

    Iterations have the numbers of GEPA's `run_log.json`, times the number of proposals per iteration. One whose
    minibatch is perfect is recorded without a revision; one that merges candidates asks no reflector and is not
    recorded.

    Args:
        folder: the folder of the data set, which may hold many runs.
        env: the task.
        condition: a label for all that was chosen besides task and method.
        run: the number of the run, from 1.
        selection_rule: `strict` for GEPA's default acceptance, `better` for `improvement_or_equal`, `always` for one of
            your own.
        score_range: the lowest and the highest score that an example can have, where they are known.
        model: the reflector's model.

    Attributes:
        troubles: what could not be recorded.

    Raises:
        RecorderError: the folder cannot be recorded into.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        env: str,
        condition: str = "gepa",
        run: int = 1,
        selection_rule: SelectionRule = "strict",
        score_range: tuple[float, float] | None = None,
        model: str | None = None,
    ) -> None:
        self._recorder = Recorder(
            folder,
            env=env,
            condition=condition,
            run=run,
            variant="gepa",
            evidence="batch",
            selection_rule=selection_rule,
            score_range=score_range,
            model=model,
            backend="gepa",
            packages=("gepa", "dspy"),
        )
        self._rule = selection_rule
        self._now = _Iteration()
        self._thread: int | None = None
        self._is_mixed = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The recorder itself: DSPy copies models together with their callbacks, and a run has one recorder."""
        return self

    @property
    def troubles(self) -> Troubles:
        """What could not be recorded."""
        return self._recorder.troubles

    def close(self) -> None:
        """Close the files, and warn of what could not be recorded. GEPA's end does it too."""
        self._recorder.close()

    @guarded
    def on_optimization_start(self, event: Event) -> None:
        """Note what the run is."""
        self._is_mixed = self._thread not in (None, threading.get_ident())
        if self._is_mixed:
            raise RecorderError(
                "a second optimization began meanwhile: give each a recorder and a run number of its own"
            )
        self._thread = threading.get_ident()
        config = event.get("config") or {}
        sizes = {name: event.get(name) for name in ("trainset_size", "valset_size")}
        self._recorder.files.describe(
            seed=config.get("seed"), options={**sizes, "perfect_score": config.get("perfect_score")}
        )

    @guarded
    def on_iteration_start(self, event: Event) -> None:  # noqa: ARG002
        """Forget the iteration before."""
        self._now = _Iteration()

    @guarded
    def on_candidate_selected(self, event: Event) -> None:
        """A task begins with its parent."""
        self._now.tasks.append(_Task(text=dict(event["candidate"])))

    @guarded
    def on_minibatch_sampled(self, event: Event) -> None:
        """The task's minibatch."""
        self._now.tasks[-1].ids = [str(each) for each in event["minibatch_ids"]]

    @guarded
    def on_evaluation_end(self, event: Event) -> None:
        """Scores of a parent, in the order of tasks, or of a child, in the order of proposals; or of a merge."""
        parent = event["candidate_idx"] is not None
        waiting: Sequence[_Task | _Proposal] = self._now.tasks if parent else self._now.proposals
        for each in waiting:
            if each.scores is None:
                each.scores = list(event["scores"])
                return

    @guarded
    def on_evaluation_skipped(self, event: Event) -> None:
        """A task whose minibatch is perfect, or has no traces, goes no further."""
        scores = event["scores"]
        self._undecided(lambda task: scores is None or task.scores == list(scores)).skipped = True

    @guarded
    def on_proposal_start(self, event: Event) -> None:
        """What the reflector is shown of a task."""
        parent, shown = dict(event["parent_candidate"]), event["reflective_dataset"]
        task = self._undecided(lambda task: task.text == parent)
        # Components that are revised together are shown the same examples.
        task.examples = next((list(shown[name]) for name in event["components"] if name in shown), [])

    @guarded
    def on_proposal_end(self, event: Event) -> None:
        """What the reflector answered."""
        prompts, answers = event.get("prompts") or {}, event.get("raw_lm_outputs") or {}
        self._now.proposals.append(
            _Proposal(
                text=dict(event["new_instructions"]),
                prompt=_joined(prompts.values()),
                answer=_joined(answers.values()),
            )
        )

    @guarded
    def on_valset_evaluated(self, event: Event) -> None:
        """A candidate joins the pool: the seed, before all iterations, or an accepted one."""
        if event["parent_ids"]:
            self._now.joined.append(event)
        else:
            self._joined(event)

    @guarded
    def on_error(self, event: Event) -> None:
        """The iteration ends early."""
        self._now.error = words(event.get("exception") or "an error without a text")

    @guarded
    def on_iteration_end(self, event: Event) -> None:
        """Record what the iteration tried."""
        now, self._now = self._now, _Iteration()
        if self._is_mixed:
            return
        first = (event["iteration"] - 1) * len(now.tasks)
        asked = [task for task in now.tasks if task.examples is not None]
        self._take_calls(now, len(asked))
        # A failed reflection has no event, so that of several proposals it is not known whose is missing.
        known = len(now.proposals) in (0, len(asked))
        proposals = iter(now.proposals)
        for number, task in enumerate(now.tasks, start=first):
            if task.scores is None or (task.examples is None and not task.skipped):
                self._note(number, f"has no proposal: {now.error or _LOG}")
            elif task.skipped:
                self._recorder.passed(task.text, task.scores, ids=task.ids, iteration=number)
            elif not known:
                self._note(number, "is left out: of several proposals one failed, and which one is not known")
            else:
                self._record(number, task, next(proposals, None), now)
        for merged in now.joined:
            self._joined(merged)

    @guarded
    def on_optimization_end(self, event: Event) -> None:  # noqa: ARG002
        """Close the files, and warn of what could not be recorded."""
        self._thread = None
        self.close()

    @guarded
    def on_lm_start(self, call_id: str, instance: Any, inputs: Mapping[str, Any]) -> None:  # noqa: ARG002
        """DSPy calls the model: while a proposal is made, this is the reflector's prompt."""
        if any(task.examples is not None for task in self._now.tasks) and not self._now.proposals:
            messages = inputs.get("messages")
            self._now.prompts[call_id] = plain_text(messages if messages else inputs.get("prompt"))

    @guarded
    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """The model has answered."""
        prompt = self._now.prompts.pop(call_id, None)
        if prompt is not None and exception is not None:
            self._now.error = words(exception)
        if prompt is not None and outputs:
            self._now.calls.append((prompt, plain_text(outputs[0] if isinstance(outputs, list) else outputs)))

    def _undecided(self, fits: Any) -> _Task:
        return next(task for task in self._now.tasks if not task.skipped and task.examples is None and fits(task))

    def _answered(self, it: Iteration, proposal: _Proposal, text: dict[str, str] | None) -> None:
        completion = proposal.answer
        # DSPy asks for fields, of which one is the proposal itself, and the others are the reasons.
        fields = answer_fields(completion) if completion else {}
        reasons = [text for name, text in fields.items() if name not in _NO_REASON]
        it.answered("\n\n".join(reasons) or None if fields else completion, text, completion=completion)

    def _joined(self, event: Event, iteration: int | None = None) -> None:
        self._recorder.joined(
            event["candidate_idx"],
            dict(event["candidate"]),
            parents=event["parent_ids"],
            iteration=iteration,
            scores=event["scores_by_val_id"],
        )

    def _note(self, number: int, trouble: str) -> None:
        self.troubles.note("on_iteration_end", f"iteration {number} {trouble}")

    def _take_calls(self, now: _Iteration, asked: int) -> None:
        """Give proposals the calls that DSPy's model reported: one each, or the last where one is due."""
        if asked == 1 and now.calls:
            now.calls = now.calls[-1:]
            now.proposals = now.proposals or [_Proposal(text=None, prompt=None, answer=None)]
        if len(now.calls) == len(now.proposals):
            for proposal, (prompt, answer) in zip(now.proposals, now.calls, strict=True):
                proposal.prompt = proposal.prompt or prompt
                proposal.answer = proposal.answer or answer

    def _record(self, number: int, task: _Task, proposal: _Proposal | None, now: _Iteration) -> None:
        if proposal is not None and proposal.text is not None and proposal.scores is None:
            self._note(number, f"has a proposal that was never scored: {now.error or _LOG}")
            return
        prompt = proposal.prompt if proposal else None
        # Where an adapter leaves examples out, which of them are shown is not known.
        examples = task.examples if task.examples and len(task.examples) == len(task.ids) else []
        it = self._recorder.iteration()
        it.shown(
            task.text,
            task.scores or [],
            ids=task.ids,
            items=[_item(place, example, prompt) for place, example in enumerate(examples)],
            prompt=prompt,
            iteration=number,
            started=now.started,
        )
        if proposal is None or (proposal.text is None and proposal.answer is None):
            it.failed(now.error or f"GEPA gave no proposal; {_LOG}")
            return
        if proposal.text is None:
            self._answered(it, proposal, None)
            return
        child = {**task.text, **proposal.text}
        joined = next(
            (each for each in now.joined if each["candidate"] == child and len(each["parent_ids"]) == 1), None
        )
        if joined is not None:
            now.joined.remove(joined)
            self._joined(joined, number)
            if self._rule == "strict" and sum(proposal.scores or []) <= sum(task.scores or []):
                self._note(number, "was accepted without a gain: this is not the rule `strict`; give selection_rule")
        self._answered(it, proposal, proposal.text)
        it.scored(proposal.scores or [], accepted=joined is not None)


def _item(place: int, example: Mapping[str, Any], prompt: str | None) -> Item:
    """An example as the prompt shows it: GEPA's under a heading, DSPy's as an object of JSON."""
    markdown = _markdown(place + 1, example)
    if prompt is None or markdown.strip() in prompt:
        return Item(index=place, text=markdown, name=f"Example {place + 1}")
    return Item(index=place, text=json.dumps(example, ensure_ascii=False, default=str))


def _markdown(number: int, example: Mapping[str, Any]) -> str:
    """An example as GEPA's default prompt shows it: `format_samples` in its `strategies/instruction_proposal.py`."""
    sections = (f"## {key}\n{_section(value, 3)}" for key, value in example.items())
    return f"# Example {number}\n" + "".join(sections)


def _section(value: Any, level: int) -> str:
    if isinstance(value, (list, tuple)):
        value = {f"Item {place}": item for place, item in enumerate(value, start=1)}
    if not isinstance(value, dict):
        return f"{str(value).strip()}\n\n"
    deeper = min(level + 1, _DEEPEST_HEADING)
    parts = (f"{'#' * level} {key}\n{_section(item, deeper)}" for key, item in value.items())
    return "".join(parts) or "\n"


def _joined(texts: Any) -> str | None:
    """The texts of several components as one; None if there are none."""
    return "\n\n".join(map(plain_text, texts)) or None
