"""The process that starts or joins Ray, and hands calls to its workers; the only module that imports Ray.

It is a process of its own, so that Ray's handlers of signals, its threads and its output stay out of the command's. It
leads a session of its own, in which a local Ray runs as a whole: whatever ends the command, the session is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import sys
import threading
from collections import Counter, deque
from collections.abc import Coroutine, Hashable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from collector.errors import CollectorError
from collector.rollouts.canary import Proof, difference
from collector.rollouts.ray_runner import Call, Done, Lost, Note, Ready, Runner, Work
from collector.system.cores import cores
from collector.system.processes import when_parent_ends
from collector.system.sessions import end_session

ATTEMPTS: Final = 3
"""Times that a call is made whose worker dies. It is of a pure function: another time changes nothing."""
START: Final = 300.0
"""Seconds within which the first worker must be ready."""
GRACE: Final = 60.0
"""Seconds that the others then still have."""
MEMORY: Final = 80 * 1024 * 1024
"""Bytes of the object store of a local Ray, which is as good as unused."""
MOST: Final = 1024
"""Workers at most."""
GRAIN: Final = 0.05
"""Seconds of work that are sent at once, where so much is waiting: what Ray takes for a call does not matter then."""
SOON: Final = 0.25
"""Seconds that a worker's call may take for the next one to wait there rather than here."""
GOODBYE: Final = 5.0
"""Seconds in which a cluster must have been left."""


def drive(pipe: Connection[Any, Any], address: str | None, folder: Path) -> None:
    """Serve calls until the pipe is closed.

    Args:
        pipe: takes what workers need and what they must prove, then `Call`s, and at the end None; the others come back.
        address: of a Ray cluster, as `ray.init` takes it; None for one on this machine, which is started.
        folder: for the files of a local Ray, and for what is printed here.
    """
    os.setsid()
    _redirect(folder / "driver.log")
    when_parent_ends(lambda: _leave(address, folder))
    try:
        _connect(address, folder)
        asyncio.run(_Driver(pipe).serve())
    except CollectorError as error:
        _send(pipe, Lost(str(error)))
    except Exception as error:
        _send(pipe, Lost(f"Ray: {_line(error)}"))
    _leave(address, folder)


def _redirect(log: Path) -> None:
    """Ray prints from compiled code."""
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def _connect(address: str | None, folder: Path) -> None:
    """Start a Ray for this machine alone, or join one.

    Raises:
        CollectorError: there is none at the address.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address is None:
        # Read when Ray is imported. Its servers listen to the loopback only, and to those who have the token.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ["RAY_AUTH_MODE"], os.environ["RAY_AUTH_TOKEN"] = "token", secrets.token_hex(32)
        os.environ.pop("RAY_ADDRESS", None)
    elif address.startswith("ray://"):
        _knock(address)
    import ray

    options: dict[str, Any] = {"configure_logging": False, "log_to_driver": False}
    if address is None:
        options |= {
            "address": "local",
            "num_cpus": cores(),
            "num_gpus": 0,
            "include_dashboard": False,
            "object_store_memory": MEMORY,
            "_temp_dir": str(folder),
        }
    else:
        options |= {"address": address}
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise CollectorError(f"Ray at {address or 'this machine'} cannot be used: {_line(error)}") from None


def _knock(address: str) -> None:
    """Ray itself would try for half a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10.0).close()
    except OSError as error:
        raise CollectorError(f"no Ray cluster answers at {address}: {error.strerror or error}") from None


def _leave(address: str | None, folder: Path) -> None:
    """End a local Ray, or leave a cluster, and end this process."""
    if address is None:
        end_session(os.getsid(0))
    else:
        timer = threading.Timer(GOODBYE, os._exit, (1,))
        timer.daemon = True
        timer.start()
        with contextlib.suppress(Exception):
            sys.modules["ray"].shutdown()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


class _Actor(Runner):
    """A runner that knows where it is."""

    def node(self) -> str:
        """For people."""
        import ray

        util: Any = ray.util
        return f"{socket.gethostname()} ({util.get_node_ip_address()})"


class _Driver:
    """The workers, and the calls that wait or are with them.

    While all workers are busy, calls wait; those that take less than `GRAIN` then go in groups.
    """

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        import ray

        self._ray: Any = ray
        self._pipe = pipe
        self._loads: dict[Any, int] = {}
        self._waiting: deque[Call] = deque()
        self._sent: list[list[Call]] = []
        self._seconds: dict[Hashable, float] = {}
        self._size = self._starting = 0
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = asyncio.Event()

    async def serve(self) -> None:
        """Start workers, and do calls until the pipe is closed."""
        self._work: Work
        self._expected: Proof
        self._work, self._expected = await asyncio.to_thread(self._pipe.recv)
        # Made here, as the module is imported without Ray by those who only name its types.
        self._runner = self._ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Actor)
        await self._begin(min(MOST, int(self._ray.cluster_resources().get("CPU", 0))))
        asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._receive)
        await self._closed.wait()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(asyncio.gather(*(actor.close.remote() for actor in self._loads)), 2.0)

    async def _begin(self, wanted: int) -> None:
        if wanted == 0:
            raise CollectorError("the Ray cluster has no processor to give")
        self._refused: Counter[str] = Counter()
        admissions = {asyncio.create_task(self._admit()) for _ in range(wanted)}
        deadline, pending = START, admissions
        while pending and deadline:
            done, pending = await asyncio.wait(pending, timeout=deadline, return_when="FIRST_COMPLETED")
            deadline = (GRACE if self._loads else START) if done else 0.0
        for admission in pending:
            admission.cancel()
        self._report()
        if not self._loads:
            raise CollectorError(
                "no Ray worker can be used" + ("" if self._refused else f": none started within {START:.0f} s")
            )
        if len(self._loads) < wanted:
            _send(self._pipe, Note(f"going on with {len(self._loads)} of {wanted} Ray workers"))
        self._size = len(self._loads)
        _send(self._pipe, Ready(self._size))

    async def _admit(self) -> None:
        """Start a worker, and have it prove itself before it gets any work."""
        actor = self._runner.remote()
        try:
            node, proof = await actor.node.remote(), await actor.prove.remote(self._work)
        except Exception as error:
            self._refused[f"did not start: {_line(error)}"] += 1
            return
        except asyncio.CancelledError:
            self._ray.kill(actor)
            raise
        different = proof if isinstance(proof, str) else difference(proof, self._expected)
        if different:
            self._refused[f"on {node} refused: {different}"] += 1
            self._ray.kill(actor)
            return
        async with self._changed:
            self._loads[actor] = 0
            self._changed.notify_all()

    def _report(self) -> None:
        for refusal, count in self._refused.items():
            _send(self._pipe, Note(f"{count} Ray worker{'s' if count > 1 else ''} {refusal}"))

    def _receive(self) -> None:
        call = None
        with contextlib.suppress(EOFError, OSError):  # the command is gone
            call = self._pipe.recv()
        if call is None:
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            self._closed.set()
        else:
            self._waiting.append(call)
            self._hand_out()

    def _hand_out(self) -> None:
        """Hand over what waits while there are free workers."""
        while self._waiting and self._has_room(self._waiting[0]):
            group = [self._waiting.popleft()]
            left = GRAIN - self._takes(group[0])
            while self._waiting and (left := left - self._takes(self._waiting[0])) >= 0:
                group.append(self._waiting.popleft())
            self._sent.append(group)
            self._spawn(self._do(group))

    def _has_room(self, call: Call) -> bool:
        """Whether a worker is free, or soon will be: one whose next call is there already never waits for it."""
        if len(self._sent) < self._size:
            return True
        known = [self._seconds.get(each.kind, SOON) for group in self._sent for each in (*group, call)]
        return len(self._sent) < 2 * self._size and max(known) < SOON

    def _takes(self, call: Call) -> float:
        """Seconds that a call of its kind took; what is new may take long."""
        return self._seconds.get(call.kind, GRAIN)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _do(self, group: list[Call]) -> None:
        answers: list[tuple[bytes, float]] | None = None
        deaths = 0
        while answers is None and deaths < ATTEMPTS:
            actor, asked = await self._pick(), False
            try:
                if deaths:  # who died while idle, with its whole node perhaps, did not die of the call
                    await actor.is_there.remote()
                asked = True
                answers = await actor.run.remote([call.pickled for call in group])
            except self._ray.exceptions.RayError:
                deaths += asked
                self._replace(actor)
            except Exception as error:  # such as a connection that is lost
                _send(self._pipe, Lost(f"the Ray cluster is gone: {_line(error)}"))
                return
            else:
                if actor in self._loads:
                    self._loads[actor] -= 1
        self._seconds |= {call.kind: seconds for call, (_, seconds) in zip(group, answers or (), strict=False)}
        outcomes = [outcome for outcome, _ in answers] if answers else [None] * len(group)
        _send(self._pipe, Done({call.number: outcome for call, outcome in zip(group, outcomes, strict=True)}))
        self._sent.remove(group)
        self._hand_out()

    async def _pick(self) -> Any:
        """The worker that has least to do; none has much."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._loads)
            actor = min(self._loads, key=lambda each: self._loads[each])
            self._loads[actor] += 1
            return actor

    def _replace(self, actor: Any) -> None:
        """Start a worker in place of one that died."""
        if self._loads.pop(actor, None) is None:
            return  # another call was with it
        with contextlib.suppress(Exception):
            self._ray.kill(actor)
        self._spawn(self._readmit())

    async def _readmit(self) -> None:
        self._refused.clear()
        self._starting += 1
        try:
            await asyncio.wait_for(self._admit(), START)
        except TimeoutError:
            pass
        finally:
            self._starting -= 1
        self._report()
        if not self._loads and not self._starting:
            reason = f": one {next(iter(self._refused))}" if self._refused else ""
            _send(self._pipe, Lost(f"all Ray workers died{reason}"))


def _send(pipe: Connection[Any, Any], message: object) -> None:
    with contextlib.suppress(OSError):  # the command is gone
        pipe.send(message)


def _line(error: Exception) -> str:
    """What an error of Ray's comes to: the last line of its text, which quotes whole tracebacks."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
