"""Commands that write, each with what it is given and how its outcome is compared: for kills and power cuts."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.torture import readers, samples
from benchmarks.torture.trial import Trial, environment, python

WALL_CLOCK: Final = frozenset({"seconds", "started_at"})
# What a run of `figures` records about itself: its time, and the versions and folders of this machine.
_UNCOMPARED: Final = frozenset({".html", ".pdf", ".png", ".lock"})


@dataclass(frozen=True, slots=True)
class Chore:
    """A command that writes.

    Attributes:
        program, arguments: it; SERVER becomes the address of the server that answers it.
        prepare: puts what it reads into a folder.
        writes: what it writes, in that folder.
        refuses: whether it refuses, as documented, to write where its outcome is already.
        paid: the file of answers that a server was paid for, and its field for the prompt; none where none is asked.
    """

    program: str
    arguments: tuple[str, ...]
    prepare: Callable[[Trial, Path], None]
    writes: tuple[str, ...]
    refuses: bool = False
    paid: tuple[str, str] | None = None

    def command(self, server: Server | None) -> list[str]:
        """Its command line."""
        return [each.replace("SERVER", server.url if server else "") for each in self.arguments]

    def start(self, folder: Path, server: Server | None, wrapped: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        """Start it in a folder, in a process group of its own; its output goes to files beside that folder."""
        line = python(self.program, *self.command(server))
        if wrapped:
            line = [*wrapped, self.program, *self.command(server)]
        with folder.with_suffix(".out").open("wb") as out, folder.with_suffix(".err").open("wb") as err:
            return subprocess.Popen(
                line,
                cwd=folder,
                env=environment(folder.with_suffix(".own")),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                process_group=0,
            )

    def outcome(self, folder: Path) -> dict[str, Any]:
        """All that it has written, without what differs from time to time; names alone of what cannot be compared."""
        found: dict[str, Any] = {}
        for place in self.writes:
            for path in sorted([folder / place, *(folder / place).rglob("*")]):
                if path.is_file():
                    found[str(path.relative_to(folder))] = _content(path)
        return found

    def leftovers(self, folder: Path) -> list[str]:
        """Drafts that are left over; those in the cache, which another audit may be writing, go after a day."""
        every = folder.rglob("*")
        return sorted(path.name for path in every if ".part" in path.name or path.name.endswith(".old"))

    def recorded(self, folder: Path) -> Counter[str]:
        """Prompts whose answers are on the disk, whole."""
        found: Counter[str] = Counter()
        if self.paid is not None:
            for path in sorted(folder.rglob(self.paid[0])):
                lines = path.read_bytes().split(b"\n")[:-1]
                found.update(json.loads(line)[self.paid[1]] for line in lines if _is_json(line))
        return found


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _content(path: Path) -> Any:
    if path.suffix in _UNCOMPARED:
        return path.stat().st_size > 0 or path.suffix == ".lock"
    data = path.read_bytes()
    if path.suffix == ".parquet":
        return _rows(path)
    if path.suffix not in (".json", ".jsonl"):
        return hashlib.sha256(data).hexdigest()
    if path.name.endswith(".judgements.jsonl"):  # written in the order of the replies
        return sorted(map(_timeless, data.splitlines()))
    return [_timeless(line) for line in data.splitlines()] if path.suffix == ".jsonl" else _timeless(data)


def _rows(path: Path) -> Any:
    """What a pack holds, by what every audit of it prints; its bytes depend on how threads took turns."""
    from audit.output.errors import AuditError
    from audit.store import open_store

    try:
        with open_store([path], cache=False) as store:
            return repr((sorted(map(repr, store.rows("episodes"))), sorted(each.message for each in store.problems)))
    except AuditError as error:
        return f"unreadable: {error}"


def _timeless(data: bytes) -> str:
    try:
        record = json.loads(data)
    except ValueError:
        return repr(data)
    kept = (
        {name: value for name, value in record.items() if name not in WALL_CLOCK}
        if isinstance(record, dict)
        else record
    )
    return json.dumps(kept)


# What they read ------------------------------------------------------------------------------------------------------


def _nothing(_trial: Trial, _folder: Path) -> None:
    """What needs no data."""


def _records(trial: Trial, folder: Path, *, runs: int, lines: int) -> None:
    """Sound records, the same for all attempts of a campaign."""
    rng = Random(f"{trial.seed}/chores")
    for index in range(runs):
        run = samples.run_json(rng, f"c{index}")
        place = folder / "data" / f"run-{index}"
        place.mkdir(parents=True)
        (place / "run.json").write_text(json.dumps(run))
        records = (samples.line_of(samples.episode(rng, run, number)) + b"\n" for number in range(lines))
        (place / "episodes.jsonl").write_bytes(b"".join(records))


def _collected(trial: Trial, folder: Path) -> None:
    shutil.copytree(readers.base(trial), folder / "data")


def _log(_trial: Trial, folder: Path) -> None:
    """A log of another program, by the document's own example."""
    examples = Path(__file__).parents[2] / "docs" / "examples" / "import"
    shutil.copy(examples / "cartpole.toml", folder / "map.toml")
    rows = [json.loads(line) for line in (examples / "cartpole.jsonl").read_text().splitlines()]
    last = 1 + max(row["step"] for row in rows)
    with (folder / "log.jsonl").open("w") as log:
        for again in range(300):
            for row in rows:
                log.write(json.dumps({**row, "step": row["step"] + again * last}) + "\n")


_COLLECT: Final = (
    *("--env", "frozenlake", "--variant", "threetraj", "--variant", "r2po", "--runs", "2", "--iterations", "12"),
    *("--rollouts", "4", "--warmup", "2", "--condition", "c", "--out", "out", "--quiet"),
)
_SERVED: Final = ("--backend", "ollama", "--model", "tiny:1b", "--base-url", "SERVER", "--timeout", "20")

CHORES: Final = {
    "collect": Chore("collect", _COLLECT, _nothing, ("out",)),
    "collect, served": Chore("collect", (*_COLLECT, *_SERVED), _nothing, ("out",), paid=("calls.jsonl", "prompt")),
    "pack": Chore(
        "audit",
        ("pack", "data", "--no-cache"),
        partial(_records, runs=20, lines=100),
        ("data.pack.parquet",),
        refuses=True,
    ),
    "import": Chore(
        "audit", ("import", "--map", "map.toml", "log.jsonl", "--out", "theirs"), _log, ("theirs",), refuses=True
    ),
    "judge": Chore(
        "audit",
        ("judge", "data", *_SERVED, "--yes", "--concurrency", "4"),
        _collected,
        ("data.judgements.jsonl",),
        paid=("data.judgements.jsonl", "prompt"),
    ),
    "cache": Chore("audit", ("summary", "data"), partial(_records, runs=20, lines=1200), ()),
    "figures": Chore("figures", ("data", "--out", "page"), _collected, ("page",)),
}


# The server that answers them --------------------------------------------------------------------------------------


class Server:
    """Answers every prompt on the loopback, each prompt always alike, and remembers which it was asked."""

    def __init__(self) -> None:
        from tests.collector.llm.loopback import OLLAMA, Loopback, Reply

        asked: list[str] = []

        class Answering(Loopback):
            def next_reply(self, request: Any) -> Any:
                if request.path != OLLAMA.chat:
                    return Reply(body={"details": {}})
                prompt = request.body["messages"][0]["content"]
                asked.append(prompt)
                rng = Random(prompt)
                time.sleep(rng.uniform(0.001, 0.03))
                values = ", ".join(f"params[{index}]: {rng.randrange(4)}" for index in range(16))
                judged = json.dumps({"driver": "worst", "sentence": "The worst one.", "mentions_worst": True})
                return OLLAMA.answer(judged if "driver" in prompt else f"{values}\nThe worst rollout fell.")

        self.asked = asked
        self._loopback = Answering()
        self.url: str = self._loopback.url

    def close(self) -> None:
        """Stop answering."""
        self._loopback.close()


@contextmanager
def served(chore: Chore) -> Iterator[Server | None]:
    """The server that a chore asks, if it asks one."""
    server = Server() if chore.paid is not None else None
    try:
        yield server
    finally:
        if server is not None:
            server.close()


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A chore that nothing happened to: what it wrote and printed, and how long it took."""

    outcome: dict[str, Any]
    out: str
    seconds: float


_undisturbed: dict[str, Undisturbed] = {}


def undisturbed(trial: Trial, name: str) -> Undisturbed:
    """Do a chore once, and remember what came of it."""
    if name not in _undisturbed:
        chore = CHORES[name]
        folder = trial.folder / "undisturbed"
        folder.mkdir()
        chore.prepare(trial, folder)
        with served(chore) as server:
            for _ in range(2):  # the first time a loop may have to be compiled
                for place in chore.writes:
                    shutil.rmtree(folder / place, ignore_errors=True)
                    (folder / place).unlink(missing_ok=True)
                shutil.rmtree(folder.with_suffix(".own"), ignore_errors=True)
                trial.step(f"{name}, undisturbed", 300.0)
                began = time.monotonic()
                status = chore.start(folder, server).wait()
                took = time.monotonic() - began
        printed = folder.with_suffix(".out").read_text()
        if status != 0:
            raise RuntimeError(f"{name}, undisturbed: {folder.with_suffix('.err').read_text()}")
        _undisturbed[name] = Undisturbed(chore.outcome(folder), printed, took)
    return _undisturbed[name]


def finish(trial: Trial, name: str, folder: Path, server: Server | None, what: str, paid_before: Counter[str]) -> None:
    """Run a chore's command again, after something happened to it, and compare its outcome with the undisturbed one.

    Args:
        trial: failures are reported to it.
        name: the chore.
        folder: where it was disturbed.
        server: that answers it.
        what: happened.
        paid_before: prompts whose answers were on the disk by then.
    """
    from benchmarks.torture.trial import typed

    chore, whole = CHORES[name], undisturbed(trial, name)
    shown = trial.folder / "state"
    shutil.rmtree(shown, ignore_errors=True)
    shutil.copytree(folder, shown)
    again = f"cd {{}} && {typed(chore.program, *chore.command(server))}"
    is_there = chore.refuses and any((folder / place).exists() for place in chore.writes)
    asked = len(server.asked) if server else 0
    if not is_there:
        trial.step(f"{name}, again after {what}", 120.0)
        status = chore.start(folder, server).wait()
        err = folder.with_suffix(".err").read_text()
        if status != 0:
            trial.fail(f"{name}: cannot be continued", f"{what}: exit status {status}\n{err[-1500:]}", again, shown)
            return
        printed = folder.with_suffix(".out").read_text()
        if not chore.writes and printed != whole.out:
            trial.fail(f"{name}: prints something else", f"{what}\n{printed}", again, shown)
    outcome = chore.outcome(folder)
    if outcome != whole.outcome:
        names = sorted(set(outcome) ^ set(whole.outcome)) or [
            each for each in outcome if outcome[each] != whole.outcome[each]
        ]
        there = "what is there is not whole, and not made again" if is_there else "another outcome"
        trial.fail(
            f"{name}: {there}", f"{what}: {names[:5]}\n{_first_difference(outcome, whole.outcome)}", again, shown
        )
    if left := chore.leftovers(folder):
        trial.fail(f"{name}: drafts are left over", f"{what}: {left[:5]}", again, shown)
    if server is not None:
        twice = [prompt for prompt in server.asked[asked:] if paid_before[prompt]]
        if twice:
            trial.fail(
                f"{name}: an answer is paid for twice", f"{what}: {len(twice)} prompts\n{twice[0][:300]}", again, shown
            )


def _first_difference(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    for name, content in wanted.items():
        if found.get(name) != content:
            return f"{name}: {str(found.get(name))[:300]}\ninstead of {str(content)[:300]}"
    return ""
