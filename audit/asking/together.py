"""Several calls in flight at once; when the model or the disk fails, no further call begins."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeAlias, TypeVar

from audit.asking.answer_file import AnswerFile
from audit.output.errors import AuditError, UsageError
from audit.output.progress import PrintedProgress
from audit.sources.answer_lines import AnswerLine
from collector import errors
from collector.llm.backends import make_model
from collector.llm.faults import UnusableAnswerError
from collector.llm.form import Form
from collector.llm.protocol import Completion, Model

AskedModel: TypeAlias = Model
"""The model that is asked, for modules that need nothing else of the collector."""

W = TypeVar("W")
T = TypeVar("T", bound=AnswerLine)


def open_model(backend: str, **options: Any) -> Model:
    """The model of a backend, with its options as `collector.llm.backends.make_model` takes them.

    Raises:
        UsageError: no such backend, or an option that it does not support.
    """
    with translated():
        return make_model(backend, **options)


def ask_all(
    work: Sequence[W],
    model: Model,
    file: AnswerFile[T],
    ask: Callable[[W], Awaitable[T]],
    *,
    concurrency: int,
    verb: str,
) -> float:
    """Do all work, so many pieces at once, with the progress on a terminal.

    When the model or the disk fails, no further piece is begun; calls in flight are completed first.

    Args:
        work: what to ask.
        model: it is checked before the first call, and closed at the end.
        file: where answers go.
        ask: makes the call for a piece of work; the line to write.
        concurrency: calls in flight at once.
        verb: what is done to a piece of work, for messages, such as `judged`.

    Returns:
        Wall time, in seconds.

    Raises:
        AuditError: the model cannot be used or fails, or the file cannot be written.
        KeyboardInterrupt: Ctrl-C; what was answered is in the file.
    """
    before, began = len(file.answers), time.monotonic()

    def stopped() -> str:
        done = len(file.answers) - before
        return f"{done} of {len(work)} are {verb}, the same command goes on from there ({file.path})"

    async def run() -> None:
        try:
            await model.check()
            await _work(work, file, ask, concurrency, progress.advance)
        finally:
            await model.aclose()

    try:
        with translated(), PrintedProgress() as progress:
            progress.begin(len(work), "")
            _run_here_or_beside(run())
    except UsageError:
        raise
    except AuditError as error:
        if len(file.answers) == before:
            raise
        raise AuditError(f"{error}; {stopped()}") from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; {stopped()}") from None
    return time.monotonic() - began


async def _work(
    work: Sequence[W],
    file: AnswerFile[T],
    ask: Callable[[W], Awaitable[T]],
    concurrency: int,
    on_answer: Callable[[], None],
) -> None:
    waiting = iter(work)
    failures: list[Exception] = []
    writer = _Writer(file)

    async def take_turns() -> None:
        for piece in waiting:
            try:
                await writer.write(await ask(piece))
            except (errors.CollectorError, AuditError) as error:
                failures.append(error)
                return
            on_answer()
            if failures:
                return

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(work))):
                group.create_task(take_turns())
    finally:
        writer.end()
    if failures:
        raise failures[0]


class _Writer(Generic[T]):
    """Writes answers in a thread: those that came while others were being written, with one sync for all of them.

    Args:
        file: where they go.
    """

    def __init__(self, file: AnswerFile[T]) -> None:
        self._file = file
        self._waiting: deque[tuple[T, asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    async def write(self, answer: T) -> None:
        """Append an answer; it is on the disk when this returns.

        Raises:
            AuditError: it cannot be written.
        """
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((answer, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
            # An interrupt within it ends the loop, and need not be reported once more.
            self._writing.add_done_callback(lambda task: task.cancelled() or task.exception())
        await written

    def end(self) -> None:
        """Write what is still to be written: an interrupt finds every answer that has come in the file."""
        if self._waiting:
            self._write_waiting()

    async def _write_all(self) -> None:
        while self._waiting:
            for written, error in await asyncio.to_thread(self._write_waiting):
                if written.cancelled():
                    continue
                if error is None:
                    written.set_result(None)
                else:
                    written.set_exception(error)
        self._writing = None

    def _write_waiting(self) -> list[tuple[asyncio.Future[None], Exception | None]]:
        """Write the answers that are there; for each, whether it could be written."""
        # They are taken here and not where the thread is asked for, since it need not begin before an interrupt.
        batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
        count = 0
        error: Exception | None
        try:
            count, error = self._file.append([answer for answer, _ in batch])
        except Exception as unforeseen:  # who waits must hear of it
            error = unforeseen
        return [(written, None if place < count else error) for place, (_, written) in enumerate(batch)]


async def complete(model: Model, prompt: str, seed: int, form: Form | None) -> Completion:
    """One call; an answer that no reader could use is an answer all the same.

    Raises:
        CollectorError: the model fails.
    """
    try:
        return await model.complete(prompt, seed=seed, form=form)
    except UnusableAnswerError as error:
        return error.completion


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raise the collector's errors as those of the audit."""
    try:
        yield
    except errors.UsageError as error:
        raise UsageError(str(error)) from None
    except errors.CollectorError as error:
        raise AuditError(str(error)) from None


def _run_here_or_beside(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end; in another thread where this one runs a loop already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as beside:
        beside.submit(asyncio.run, work).result()
