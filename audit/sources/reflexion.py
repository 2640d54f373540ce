"""Logs of Reflexion's programming runs: a line of JSON per problem, with every implementation and reflection.

An implementation is tested; the model reflects on which tests passed and which failed, and writes the next one. There
is an iteration per reflection, whose examples are the tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from audit.sources.files import Found
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Capabilities, ShownEvidence, Translated
from audit.sources.run_names import Folder, run_names
from audit.sources.tool_runs import LogError, ToolRun, candidate, cut, kept, left_out, revision
from audit.vocabulary.evidence import ShownRollout
from audit.vocabulary.methods import METHODS
from collector.records import LONGEST_LINE
from collector.system.regular_files import open_regular

SOURCE: Final = "reflexion"
_NAME: Final = re.compile(
    r"(?:(?P<task>.+?)\.?(?:\.gz)?_)?reflexion_\d+_(?P<model>.+)_pass_at_k_\d+(?:_[a-z]+)?\.jsonl"
)
_FEEDBACK: Final = re.compile(r"Tested passed:(?P<passed>.*?)\n\nTests failed:(?P<failed>.*)", re.DOTALL)
_TEST: Final = re.compile(r"\n(?=assert\b)")
_OUTPUT: Final = " # output: "


@dataclass
class _Log:
    """A log, and the model that its name states."""

    label: str
    path: Path
    model: str


class ReflexionSource:
    """Reads each log by itself."""

    capabilities: ClassVar = {SOURCE: Capabilities(Translated)}
    remarks: ClassVar = {
        SOURCE: (
            "Reflexion reflects on implementations that fail a test, so its revisions are of imperfect ones only.",
            "Its prompts list passed tests before failed ones, so that place and score cannot be told apart.",
            "Scores are of the tests that the model sees; hidden ones are logged for the last implementation alone.",
        )
    }
    looked_for = "<data>_reflexion_<n>_<model>_pass_at_k_<k>.jsonl (a log of Reflexion's programming runs)"

    def __init__(self) -> None:
        self._logs: dict[Folder, _Log] = {}

    def claims(self, found: Found) -> bool:
        """Whether it has the name that Reflexion gives its logs."""
        return _NAME.fullmatch(found.name) is not None

    def take(self, found: Found, intake: Intake) -> None:
        """Remember where a log is."""
        match = _NAME.fullmatch(found.name)
        assert match is not None
        try:
            log = _Log(found.label, kept(found, intake), match["model"])
        except OSError as error:
            left_out(found, error, intake)
        else:
            self._logs[*found.folder, match["task"] or SOURCE] = log

    def finish(self, intake: Intake) -> None:
        """Write the iterations of each log."""
        copies: dict[str, str] = {}
        for key, name in run_names(self._logs, intake).items():
            _hand_over(self._logs[key], name, copies, intake)


def _hand_over(log: _Log, name: tuple[str, int], copies: dict[str, str], intake: Intake) -> None:
    run = ToolRun(log.label, intake)
    try:
        most = max((len(value.get("reflections") or []) for _, value in _lines(log.path, None)), default=1)
        for place, value in _lines(log.path, run):
            _write(value, place, max(most, 1), run, name)
    except OSError as error:
        intake.problem(log.label, None, f"cannot be read ({error.strerror or error})")
    env, number = name
    facts = RunFacts(
        condition=SOURCE,
        env=env,
        variant=SOURCE,
        run=number,
        source=SOURCE,
        backend=SOURCE,
        model=log.model,
        method=msgspec.structs.replace(METHODS[SOURCE], evidence="batch"),
        candidates="text",
        selection_rule="always",
        score_range=(0.0, 1.0),
    )
    run.close(facts, copies)


def _lines(path: Path, run: ToolRun | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The problems with their numbers; what cannot be read is a fault of the run's, where one is given."""
    with open_regular(path) as stream:
        place = -1
        while line := stream.readline(LONGEST_LINE):
            if not line.strip():
                continue
            place += 1
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict) and isinstance(value.get("reflections") or [], list):
                yield place, value
            elif run is not None:
                run.fault(
                    f"line {place + 1} is torn, too long, or not a problem's; left out with what is like it", None
                )


def _write(value: dict[str, Any], place: int, most: int, run: ToolRun, name: tuple[str, int]) -> None:
    for step in range(len(value.get("reflections") or [])):
        iteration = place * most + step
        try:
            run.write(name, SOURCE, iteration, **_reflection(value, step))
        except LogError as error:
            run.fault(str(error), iteration)


def _reflection(value: dict[str, Any], step: int) -> dict[str, Any]:
    reflections, programs, feedback = (value.get(each) for each in ("reflections", "implementations", "test_feedback"))
    if not (isinstance(reflections, list) and isinstance(programs, list) and isinstance(feedback, list)):
        raise LogError("the log has no implementations or no test_feedback")
    if not len(programs) == len(feedback) == len(reflections) + 1:
        raise LogError("several attempts at a problem are in one list, so it is unknown which reflection led where")
    before, after = _results(feedback[step]), _results(feedback[step + 1])
    if before.keys() != after.keys():
        raise LogError("the two implementations were tested on different examples")
    ids = list(before)
    answer = reflections[step] if isinstance(reflections[step], str) else None
    initial = candidate("parent", _text(programs[step]), list(before.values()), ids=ids)
    scores = [after[each] for each in ids]
    revised = candidate("critic", _text(programs[step + 1]), scores, ids=ids, answer=answer)
    shown = [
        ShownRollout(label="item", rollout=number, return_=score, text=cut(test))
        for number, (test, score) in enumerate(before.items())
    ]
    return revision(initial, revised, ShownEvidence(kind="batch", shown=shown), accepted=True)


def _results(feedback: object) -> dict[str, float]:
    """The score of each test, 1 or 0, in the order in which the model sees them."""
    match = _FEEDBACK.fullmatch(feedback) if isinstance(feedback, str) else None
    if match is None:
        raise LogError("test_feedback does not list tests that passed and failed")
    results: dict[str, float] = {}
    for name, score in (("passed", 1.0), ("failed", 0.0)):
        first, *tests = _TEST.split(match[name])
        if first.strip():
            raise LogError("test_feedback lists something other than assertions")
        for test in tests:
            results.setdefault(test.partition(_OUTPUT)[0].strip(), score)
    if not results:
        raise LogError("test_feedback lists no test")
    return results


def _text(program: object) -> dict[str, str] | None:
    return {"program": program} if isinstance(program, str) else None
