"""Judgements as they are kept: one JSON line each, in a file of its own beside the records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from audit.output.errors import UsageError
from audit.records.locating import beside
from audit.sources.answer_lines import AnswerLine, AnswerLines, left_out
from audit.vocabulary.drivers import DriverName

SCHEMA: Final = 1
LONGEST_READ: Final = 20_000
"""Characters of a reply that are read, from its end: the requested format fits into a few hundred."""
ENDING: Final = ".judgements.jsonl"
"""The ending of the file's default name."""

Key = tuple[tuple[str, str, str, int, int], str, str]
"""Identifies a question, which is asked once: the revision's identity, the SHA-256 of the prompt, and the model."""


class Judged(AnswerLine, frozen=True, kw_only=True):
    """A judgement without its texts: all that counting and resuming need.

    Attributes:
        schema: version of this form.
        answer_sha256: of the answer that was judged.
        condition, env, variant, run, iteration: the revision.
        prompt_sha256: of the prompt.
        backend, model, options: the judge and its settings.
        seed: of the last attempt.
        attempts: replies so far until one could be read, or until it was enough.
        driver: null where no reply could be read.
        sentence: that the judge relied on.
        quoted: whether that sentence is in the answer.
        mentions_worst, discounts_worst: null where the reply does not state them.
        error: why the last reply could not be read, else null.
        rubric, rubric_sha256, category: the question that was asked instead of the driver, a digest of its content, and
            the answer; null where the driver was asked.
        prompt_tokens, completion_tokens: of all attempts that this line is about; null where not reported.
        seconds: wall time of those.
    """

    schema: int = SCHEMA
    answer_sha256: str
    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    prompt_sha256: str
    backend: str
    model: str
    options: dict[str, Any]
    seed: int
    attempts: int
    driver: DriverName | None
    sentence: str | None
    quoted: bool | None
    mentions_worst: bool | None
    discounts_worst: bool | None
    error: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    rubric: str | None = None
    rubric_sha256: str | None = None
    category: str | None = None

    @property
    def code(self) -> str | None:
        """The driver, or the category of a user's question; None where no reply could be read."""
        return self.category if self.rubric_sha256 else self.driver

    @property
    def identity(self) -> tuple[str, str, str, int, int]:
        """Of the revision."""
        return self.condition, self.env, self.variant, self.run, self.iteration

    @property
    def key(self) -> Key:
        """What this answers."""
        return self.identity, self.prompt_sha256, self.model


class Judgement(Judged, frozen=True, kw_only=True):
    """A judgement in full, as it is written: with the prompt and the last reply."""

    prompt: str
    completion: str
    thinking: str | None

    def shortened(self) -> Iterator[Self]:
        """Without prompt and thinking; then with what was read of the reply alone, its end."""
        shorter = msgspec.structs.replace(self, prompt=left_out(self.prompt), thinking=left_out(self.thinking))
        yield shorter
        end = self.completion[-LONGEST_READ:]
        yield msgspec.structs.replace(shorter, completion=left_out(self.completion[:-LONGEST_READ]) + end)


JUDGEMENTS: Final = AnswerLines(Judged, "a judgement", SCHEMA, "answer_sha256")
read_judgements = JUDGEMENTS.read


def default_file(paths: Sequence[str | Path]) -> Path:
    """Where the judgements of one folder, archive or pack are kept: beside it.

    Raises:
        UsageError: several were given.
    """
    if len(paths) != 1:
        raise UsageError("judgements of several folders need a file of their own: name one with --out FILE")
    return beside(paths[0], ENDING)


def files_to_read(paths: Sequence[str | Path], given: Sequence[Path]) -> list[Path]:
    """The files of judgements that go with some records: those given, else those that lie beside them.

    Raises:
        UsageError: there is none.
    """
    if given:
        return list(given)
    expected = [beside(path, ENDING) for path in paths]
    if not (found := [path for path in expected if path.is_file()]):
        names = ", ".join(map(str, expected))
        raise UsageError(
            f"no judgements: no file {names}; make it with `audit judge`, or name one with --judgements FILE"
        )
    return found


def choose_judge(judged: Iterable[Judged], model: str | None) -> str:
    """The model whose judgements count.

    Raises:
        UsageError: there are several and none was named, or it has judged nothing.
    """
    models = sorted({each.model for each in judged})
    if model is None and len(models) == 1:
        return models[0]
    if model is None:
        message = f"several models have judged: choose one with --judge: {', '.join(models)}"
        raise UsageError(message if models else "the file of judgements is empty")
    if model not in models:
        raise UsageError(f"no judgements by {model}; models with judgements: {', '.join(models) or 'none'}")
    return model
