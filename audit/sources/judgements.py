"""Judgements as they are kept: one JSON line each, in a file of its own beside the records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from audit.output.errors import AuditError, Problem, UsageError
from audit.sources.files import beside
from audit.sources.intake import LONGEST_LINE
from audit.vocabulary.drivers import DriverName
from collector.system.regular_files import open_regular

SCHEMA: Final = 1
ENDING: Final = ".judgements.jsonl"
"""The ending of the file's default name."""

Key = tuple[tuple[str, str, str, int, int], str, str]
"""Identifies a question, which is asked once: the revision's identity, the SHA-256 of the prompt, and the model."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
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


HEAD: Final = b'{"schema":%d,"answer_sha256":"' % SCHEMA
"""How every line begins that this program writes, and no line of another of its files."""


class _Schema(msgspec.Struct):
    schema: int


_decoder = msgspec.json.Decoder(Judged)
_schema = msgspec.json.Decoder(_Schema)


def read_judgements(path: Path) -> tuple[list[Judged], list[Problem]]:
    """The judgements of a file in its order, and the lines that hold none.

    Raises:
        AuditError: the file cannot be read, holds something else, or was written by a newer version.
    """
    judged: list[Judged] = []
    problems: list[Problem] = []
    try:
        with open_regular(path) as stream:
            for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
                if len(line) > LONGEST_LINE:
                    raise AuditError(f"{path}:{number}: the line is longer than 16 MiB, so it is not a judgement")
                _read_line(path, number, line, judged, problems)
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from None
    if problems and not judged and not all(problem.message.startswith("torn") for problem in problems):
        raise AuditError(f"{path} holds no judgements: {problems[0]}")
    return judged, problems


def _read_line(path: Path, number: int, line: bytes, judged: list[Judged], problems: list[Problem]) -> None:
    if not line.endswith(b"\n"):
        if not is_torn(line):
            problems.append(Problem(str(path), number, "not a judgement"))
        else:
            problems.append(Problem(str(path), number, "torn: the end of a judgement is missing"))
        return
    if not line.strip():
        return
    try:
        judged.append(_decoder.decode(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if (schema := _schema_of(line)) > SCHEMA:
            raise AuditError(
                f"{path}:{number}: written by a newer version (schema {schema}); this one reads {SCHEMA}"
            ) from None
        problems.append(Problem(str(path), number, f"not a judgement ({error})"))
        return
    if judged[-1].schema > SCHEMA:
        raise AuditError(f"{path}:{number}: written by a newer version (schema {judged[-1].schema})")


def is_torn(tail: bytes) -> bool:
    """Whether what is behind a file's last line break is the beginning of a judgement, or zeros of a power cut."""
    written = tail.rstrip(b"\0")
    return written.startswith(HEAD) or HEAD.startswith(written)


def default_file(paths: Sequence[Path]) -> Path:
    """Where the judgements of one folder, archive or pack are kept: beside it.

    Raises:
        UsageError: several were given.
    """
    if len(paths) != 1:
        raise UsageError("judgements of several folders need a file of their own: name one with --out FILE")
    return beside(paths[0], ENDING)


def files_to_read(paths: Sequence[Path], given: Sequence[Path]) -> list[Path]:
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


def _schema_of(line: bytes) -> int:
    try:
        return _schema.decode(line).schema
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return 0
