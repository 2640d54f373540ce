"""One process per run: training is bound to a processor, and sets random numbers and threads for a whole process.

The process sends its finished iterations through a pipe and writes nothing; the run's folder, with its lock and its
care for torn lines, stays with the process that the user started. If that one goes away, the pipe breaks and the
training ends.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path

from collector.baselines.planning import BaselineRun
from collector.errors import CollectorError
from collector.rollouts.evaluate import Evaluation
from collector.system.processes import Process
from collector.tasks.plugins import load_tasks

Iteration = tuple[Evaluation, float]
"""An evaluation, and the seconds that the iteration took."""


async def train(run: BaselineRun, task_modules: Sequence[Path] = ()) -> AsyncGenerator[Iteration, None]:
    """Train in a process of its own; yields the iterations as they are finished.

    Args:
        run: what to train.
        task_modules: Python files of users' tasks, which the process needs as well.

    Raises:
        CollectorError: the training failed, or its process died.
    """
    # Spawned rather than forked: the parent has threads and an event loop.
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = Process(target=_train, args=(run, tuple(task_modules), sender), daemon=True)
    # A thread of its own waits for the pipe, so that no number of runs can use up the event loop's.
    with ThreadPoolExecutor(max_workers=1) as listener:
        process.start()
        sender.close()
        try:
            while (message := await asyncio.get_running_loop().run_in_executor(listener, receiver.recv)) is not None:
                if isinstance(message, CollectorError):
                    raise message
                yield message
        except EOFError:
            process.join()
            raise CollectorError(
                f"the process that trained {run.folder} died (exit status {process.exitcode}); "
                f"if memory ran out, try a smaller --concurrency"
            ) from None
        finally:
            process.kill()
            process.join()


def _train(run: BaselineRun, task_modules: Sequence[Path], sender: Connection[object, object]) -> None:
    try:
        try:
            load_tasks(task_modules)
            from collector.baselines.learner import learn

            learn(run, lambda evaluation, seconds: sender.send((evaluation, seconds)))
        except BrokenPipeError:
            raise
        except CollectorError as error:
            sender.send(error)
        except Exception as error:  # of the libraries, such as a policy that has grown beyond all numbers
            sender.send(CollectorError(f"training {run.folder} failed: {type(error).__name__}: {_line(error)}"))
        else:
            sender.send(None)
    except BrokenPipeError:
        return  # the parent is gone, and with it the folder's lock


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
