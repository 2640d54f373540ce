"""One process per run: training is bound to a processor, and sets random numbers and threads for a whole process.

The process sends its finished iterations through a pipe and writes nothing; the run's folder, with its lock and its
care for torn lines, stays with the process that the user started. If that one goes away, the pipe breaks and the
training ends.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from collector.baselines.planning import BaselineRun
from collector.errors import CollectorError
from collector.rollout import Evaluation

Iteration = tuple[Evaluation, float]
"""An evaluation, and the seconds that the iteration took."""


async def train(run: BaselineRun) -> AsyncGenerator[Iteration, None]:
    """Train in a process of its own; yields the iterations as they are finished.

    Raises:
        CollectorError: the process died.
    """
    # Spawned rather than forked: the parent has threads and an event loop.
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_train, args=(run, sender), daemon=True)
    # A thread of its own waits for the pipe, so that no number of runs can use up the event loop's.
    with ThreadPoolExecutor(max_workers=1) as listener:
        process.start()
        sender.close()
        try:
            while (iteration := await asyncio.get_running_loop().run_in_executor(listener, receiver.recv)) is not None:
                yield iteration
        except EOFError:
            process.join()
            raise CollectorError(
                f"the process that trained {run.folder} died (exit status {process.exitcode}); "
                f"if nothing is told above, memory may have run out: try a smaller --concurrency"
            ) from None
        finally:
            process.kill()
            process.join()


def _train(run: BaselineRun, sender: Connection[object, object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this process

    from collector.baselines.learner import learn

    try:
        learn(run, lambda evaluation, seconds: sender.send((evaluation, seconds)))
        sender.send(None)
    except BrokenPipeError:
        return  # the parent is gone, and with it the folder's lock
