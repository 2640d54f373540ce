"""Scores of proposed candidates by a user's own function, each within a time limit and written down at once."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import math
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import msgspec

from audit.asking.answer_file import AnswerFile
from audit.interventions.plan import ENDING, answers_file
from audit.output.errors import AuditError, UsageError, count
from audit.output.notes import note
from audit.output.progress import PrintedProgress
from audit.sources.answer_lines import AnswerLine, AnswerLines
from collector.system.stopping import left_to_parent

SCHEMA: Final = 1
GIVE_UP: Final = 5
"""Candidates that fail one after another, from the first, before the rest is left alone."""
STARTING: Final = 300.0
"""Seconds that importing the function may take."""


class ScoreLine(AnswerLine, frozen=True, kw_only=True):
    """The score of a candidate.

    Attributes:
        schema: version of this form.
        candidate_sha256: of its texts by name.
        function: that scored it, `module:function`.
        score: null where it failed.
        error: why.
    """

    schema: int = SCHEMA
    candidate_sha256: str
    function: str
    score: float | None
    error: str | None


SCORES: Final = AnswerLines(ScoreLine, "a score", SCHEMA, "candidate_sha256")


def scores_file(plan: Path) -> Path:
    """Where the scores of a plan's candidates are: beside its answers."""
    answers = answers_file(plan)
    return answers.with_name(f"{answers.name.removesuffix(ENDING)}.scores.jsonl")


def digest_of(candidate: Mapping[str, str]) -> str:
    """What a candidate is known by."""
    return hashlib.sha256(msgspec.json.encode(dict(candidate), order="sorted")).hexdigest()


def evaluate(candidates: Sequence[Mapping[str, str]], plan: Path, function: str, time_limit: float) -> None:
    """Score the candidates that have no score yet; those that failed are tried again.

    Args:
        candidates: texts by name.
        plan: of which they are.
        function: `module:function`, which takes such a candidate and returns a number, the higher the better. The
            module is looked for in the current folder as well.
        time_limit: seconds for one candidate.

    Raises:
        UsageError: there is no such function.
        AuditError: scores cannot be written, or are by another function; or the first candidates all fail.
        KeyboardInterrupt: Ctrl-C; the same command goes on from there.
    """
    with AnswerFile(scores_file(plan), SCORES) as file:
        if others := {line.function for line in file.answers} - {function}:
            raise AuditError(f"{file.path} holds scores by {min(others)}; move it away to score by {function}")
        known = {line.candidate_sha256 for line in file.answers if line.score is not None}
        waiting = {digest: each for each in candidates if (digest := digest_of(each)) not in known}
        failed: dict[str, str] = {}
        with PrintedProgress() as progress, contextlib.closing(_Worker(function, time_limit)) as worker:
            progress.begin(len(waiting), "")
            for number, (digest, candidate) in enumerate(waiting.items(), 1):
                score, error = worker.score(candidate)
                line = ScoreLine(candidate_sha256=digest, function=function, score=score, error=error)
                _, trouble = file.append([line])
                if trouble is not None:
                    raise trouble
                if error is not None:
                    failed[digest] = error
                    if len(failed) == number == GIVE_UP:
                        raise AuditError(f"--evaluate {function}: all of the first {number} candidates failed: {error}")
                progress.advance()
    if failed:
        digest, error = next(iter(failed.items()))
        note(
            f"{count(len(failed), 'candidate')} of {len(waiting)} could not be scored by {function}, such as "
            f"{digest[:12]}: {error}; the same command tries them again"
        )


def read_scores(plan: Path) -> dict[str, float]:
    """Scores by `digest_of`; empty where none were made."""
    path = scores_file(plan)
    if not path.exists():
        return {}
    lines, _ = SCORES.read(path)
    return {line.candidate_sha256: line.score for line in lines if line.score is not None}


class _Worker:
    """A process that calls the function, and is replaced when it hangs or ends."""

    def __init__(self, function: str, time_limit: float) -> None:
        self._function, self._limit = function, time_limit
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._function, theirs), daemon=True)
        with left_to_parent():
            self._process.start()
        theirs.close()
        ready = self._answer(STARTING)
        if ready[1] is not None:
            self.close()
            raise UsageError(f"--evaluate {self._function}: {ready[1]}")

    def score(self, candidate: Mapping[str, str]) -> tuple[float | None, str | None]:
        """The score of a candidate, or why there is none."""
        if not self._process.is_alive():
            self._start()
        self._connection.send(dict(candidate))
        return self._answer(self._limit)

    def _answer(self, seconds: float) -> tuple[float | None, str | None]:
        try:
            if self._connection.poll(seconds):
                score, error = self._connection.recv()
                return score, error
        except (EOFError, OSError):
            self.close()
            return None, f"the process ended with status {self._process.exitcode}"
        self.close()
        return None, f"took longer than {seconds:g} s"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _serve(function: str, connection: Connection[Any, Any]) -> None:
    """In the process: import the function, then score what is sent."""
    os.dup2(2, 1)  # what it prints does not get among the rows of a table
    sys.path.insert(0, str(Path.cwd()))
    module, colon, name = function.partition(":")
    try:
        call = getattr(importlib.import_module(module), name or "evaluate" if not colon else name)
    except Exception as error:
        connection.send((None, f"cannot be imported ({type(error).__name__}: {error})"))
        return
    connection.send((0.0, None))
    for candidate in _sent(connection):
        try:
            score = float(call(candidate))
            answer = (score, None) if math.isfinite(score) else (None, f"returned {score}")
        except Exception as error:
            answer = (None, f"{type(error).__name__}: {error}")
        connection.send(answer)


def _sent(connection: Connection[Any, Any]) -> Iterator[dict[str, str]]:
    while True:
        try:
            yield connection.recv()
        except EOFError:
            return
