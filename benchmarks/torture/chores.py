"""Commands that write, each with what it is given and how its outcome is compared: for kills and power cuts."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.torture.campaign import PATIENCE, Trial, environment
from benchmarks.torture.drawing import line_of, sound_line, sound_run

EXAMPLES: Final = Path(__file__).parents[2] / "docs" / "examples"
PROGRAMS: Final = {"collect": "collector.cli", "audit": "audit.cli", "figures": "figures.cli"}


def python(program: str, *arguments: object) -> list[str]:
    """The command line of one of the project's programs, for a process of its own."""
    return [sys.executable, "-c", f"from {PROGRAMS[program]} import main; main()", *map(str, arguments)]


@dataclass(frozen=True, slots=True)
class Chore:
    """A command that writes.

    Attributes:
        program, arguments: it; SERVER becomes the address of the server that answers it.
        prepare: puts what it reads into a folder.
        writes: what it writes, in that folder.
        refuses: whether it refuses, as documented, to write where its outcome is already.
        paid: the file of answers that a server was paid for; none where none is asked.
    """

    program: str
    arguments: str
    prepare: Callable[[Trial, Path], None]
    writes: tuple[str, ...] = ()
    refuses: bool = False
    paid: str = ""

    def start(self, folder: Path, server: Server | None, *wrapped: str) -> subprocess.Popen[bytes]:
        """Start it in a folder, in a process group of its own; its output goes to files beside that folder."""
        arguments = [each.replace("SERVER", server.url if server else "") for each in self.arguments.split()]
        line = [*wrapped, self.program, *arguments] if wrapped else python(self.program, *arguments)
        with folder.with_suffix(".out").open("wb") as out, folder.with_suffix(".err").open("wb") as err:
            given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, "process_group": 0}
            return subprocess.Popen(line, cwd=folder, env=environment(folder.with_suffix(".own")), **given)

    def outcome(self, folder: Path) -> dict[str, str]:
        """All that it has written and printed, without what differs from time to time."""
        found = {} if self.writes else {"": folder.with_suffix(".out").read_text()}
        for place in self.writes:
            files = (path for path in sorted([folder / place, *(folder / place).rglob("*")]) if path.is_file())
            found |= {str(path.relative_to(folder)): _content(path) for path in files}
        return found

    def is_done(self, folder: Path) -> bool:
        """Whether it would refuse to begin."""
        return self.refuses and any((folder / place).exists() for place in self.writes)

    def recorded(self, folder: Path) -> set[str]:
        """Prompts whose answers are on the disk, whole."""
        files = folder.rglob(self.paid) if self.paid else ()
        lines = (line for path in files for line in path.read_bytes().split(b"\n")[:-1])
        return {record["prompt"] for record in map(_record, lines) if record}


def _record(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _content(path: Path) -> str:
    # What a run of `figures` records about itself: its time, and the versions and folders of this machine.
    if path.suffix in (".html", ".pdf", ".png", ".lock"):
        return str(path.stat().st_size > 0 or path.suffix == ".lock")
    if path.suffix == ".parquet":
        return _rows(path)
    data = path.read_bytes()
    if path.suffix not in (".json", ".jsonl"):
        return hashlib.sha256(data).hexdigest()
    lines = data.splitlines() if path.suffix == ".jsonl" else [data]
    timeless = [
        json.dumps(_record(line) | {"seconds": 0, "started_at": ""}) if _record(line) else repr(line) for line in lines
    ]
    # Judgements are written in the order of the replies.
    return "\n".join(sorted(timeless) if path.name.endswith(".judgements.jsonl") else timeless)


def _rows(path: Path) -> str:
    """What a pack holds, by what every audit of it prints; its bytes depend on how threads took turns."""
    from audit.output.errors import AuditError
    from audit.store import open_store

    try:
        with open_store([path], cache=False) as store:
            return repr((sorted(map(repr, store.rows("episodes"))), sorted(each.message for each in store.problems)))
    except AuditError as error:
        return f"unreadable: {error}"


# What they read ------------------------------------------------------------------------------------------------------


def _nothing(_trial: Trial, _folder: Path) -> None:
    """What needs no data."""


def _records(trial: Trial, folder: Path, *, lines: int) -> None:
    """Sound records, the same for all attempts of a campaign."""
    rng = Random(trial.seed)
    for index in range(20):
        run = sound_run(rng, f"c{index}")
        place = folder / "data" / f"run-{index}"
        place.mkdir(parents=True)
        (place / "run.json").write_bytes(line_of(run))
        data = (line_of(sound_line(rng, run, number)) + b"\n" for number in range(lines))
        (place / "episodes.jsonl").write_bytes(b"".join(data))


def _base(trial: Trial) -> Path:
    """Sound records of a few runs, collected once in a campaign."""
    kept = trial.room / "base"
    if not kept.exists():
        trial.step("collecting records", 10 * PATIENCE)
        methods = [word for name in ("threetraj", "r2po", "puresearch") for word in ("--variant", name)]
        settings = (
            "--env frozenlake --runs 2 --iterations 10 --rollouts 3 --warmup 2 --condition simulated --quiet --out"
        )
        own = Path(tempfile.mkdtemp(dir=trial.room))
        line = python("collect", *methods, *settings.split(), own / "base")
        subprocess.run(line, cwd=own, env=environment(own), capture_output=True, check=True)
        if not kept.exists():  # another attempt may have been faster
            (own / "base").rename(kept)
    return kept


def _collected(trial: Trial, folder: Path, copies: int = 1) -> None:
    """Records of so many rollouts, with some copies, that worker processes run them."""
    for number in range(copies):
        copy = folder / "data" / str(number)
        shutil.copytree(_base(trial), copy)
        for path in copy.rglob("*.json*"):
            path.write_text(path.read_text().replace('"simulated"', f'"copy-{number}"'))


def _log(_trial: Trial, folder: Path) -> None:
    """A log of another program, by the document's own example."""
    shutil.copy(EXAMPLES / "import" / "cartpole.toml", folder / "map.toml")
    rows = [json.loads(line) for line in (EXAMPLES / "import" / "cartpole.jsonl").read_text().splitlines()]
    last = 1 + max(row["step"] for row in rows)
    more = (json.dumps({**row, "step": row["step"] + again * last}) + "\n" for again in range(300) for row in rows)
    (folder / "log.jsonl").write_text("".join(more))


_COLLECT: Final = (
    "--env frozenlake --variant threetraj --variant r2po --runs 2 --iterations 12 --rollouts 4 --warmup 2 "
    "--condition c --out out --quiet"
)
PARALLEL: Final = (
    "--env swimmer --env invertedpendulum --variant r2po --runs 1 --iterations 8 --rollouts 10 --warmup 2 "
    "--step-cap 200 --condition c --out out --quiet"
)
_SERVED: Final = "--backend ollama --model tiny:1b --base-url SERVER --timeout 20"
CHORES: Final = {
    "collect": Chore("collect", _COLLECT, _nothing, ("out",)),
    "collect, served": Chore("collect", f"{_COLLECT} {_SERVED}", _nothing, ("out",), paid="calls.jsonl"),
    "pack": Chore("audit", "pack data --no-cache", partial(_records, lines=100), ("data.pack.parquet",), refuses=True),
    "import": Chore("audit", "import --map map.toml log.jsonl --out theirs", _log, ("theirs",), refuses=True),
    "judge": Chore(
        "audit",
        f"judge data {_SERVED} --yes --concurrency 4",
        _collected,
        ("data.judgements.jsonl",),
        paid="data.judgements.jsonl",
    ),
    "cache": Chore("audit", "summary data", partial(_records, lines=1200)),
    "figures": Chore("figures", "data --out page", _collected, ("page",)),
    "collect, in workers": Chore("collect", PARALLEL, _nothing, ("out",)),
    "verify --all": Chore("audit", "verify data --all", partial(_collected, copies=30)),
}


class Server:
    """Answers every prompt on the loopback, each prompt always alike, and remembers which it was asked."""

    def __init__(self) -> None:
        from tests.collector.llm.loopback import OLLAMA, Loopback, Reply

        self.asked = asked = list[str]()

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

        self._loopback = Answering()
        self.url: str = self._loopback.url
        self.close = self._loopback.close


@dataclass
class Scene:
    """A chore that is disturbed: where, who answers it, what an undisturbed one wrote and how many seconds it took."""

    trial: Trial
    name: str
    chore: Chore
    folder: Path
    server: Server | None
    outcome: dict[str, str]
    seconds: float

    def run(self, doing: str, *wrapped: str) -> int:
        """Run the command to its end."""
        self.trial.step(f"{self.name}, {doing}  # {self.trial.again}", 8 * PATIENCE)
        return self.chore.start(self.folder, self.server, *wrapped).wait()

    def err(self) -> str:
        """What the command has printed as errors."""
        return self.folder.with_suffix(".err").read_text()

    def finish(self, what: str) -> None:
        """Run the command again, after something happened to it, and compare its outcome with the undisturbed one."""
        paid, asked = self.chore.recorded(self.folder), len(self.server.asked) if self.server else 0
        shown = self.trial.folder / "state"
        shutil.copytree(self.folder, shown)
        again = f"cd {shown} && {self.chore.program} {self.chore.arguments}"
        if is_there := self.chore.is_done(self.folder):
            kind = "what is there is not whole, and not made again"
        elif (status := self.run(f"again after {what}")) != 0:
            self.trial.fail(
                f"{self.name}: cannot be continued", f"{what}: {status}\n{self.err()[-1500:]}", again, shown
            )
        else:
            kind = "another outcome" if self.chore.writes else "prints something else"
        found, wanted = self.chore.outcome(self.folder), self.outcome
        names = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
        faults = []
        if names:
            words = f"{str(found.get(names[0]))[:300]}\ninstead of {str(wanted.get(names[0]))[:300]}"
            faults.append((f"{self.name}: {kind}", f"{what}: {names[:5]}, {is_there}\n{words}"))
        # Those in the cache, which another audit may be writing, go after a day.
        if left := [path.name for path in self.folder.rglob("*") if ".part" in path.name or path.name.endswith(".old")]:
            faults.append((f"{self.name}: drafts are left over", f"{what}: {left[:5]}"))
        self.trial.check([*faults, *self.paid_twice(paid, asked, what)], again, shown)

    def paid_twice(self, paid: set[str], asked: int, what: str) -> Iterator[tuple[str, str]]:
        """Prompts that were asked though their answers were there."""
        if twice := [prompt for prompt in (self.server.asked[asked:] if self.server else ()) if prompt in paid]:
            yield f"{self.name}: an answer is paid for twice", f"{what}: {len(twice)} prompts\n{twice[0][:300]}"


@contextmanager
def scene(trial: Trial, name: str, chore: Chore) -> Iterator[Scene]:
    """Make what a chore needs, and do it once in a campaign without any disturbance."""
    kept = trial.room / f"undisturbed {name}.json"
    server = Server() if chore.paid else None
    try:
        while True:
            folder = trial.folder / ("disturbed" if kept.exists() else "undisturbed")
            folder.mkdir()
            chore.prepare(trial, folder)
            outcome, seconds = json.loads(kept.read_text()) if kept.exists() else ({}, 0.0)
            found = Scene(trial, name, chore, folder, server, outcome, seconds)
            if outcome:
                break
            for _ in range(2):  # the first time a loop may have to be compiled
                for place in (*chore.writes, folder.with_suffix(".own")):
                    shutil.rmtree(folder / place, ignore_errors=True)
                    if (folder / place).is_file():
                        (folder / place).unlink()
                began = time.monotonic()
                if found.run("undisturbed") != 0:
                    raise RuntimeError(f"{name}, undisturbed: {found.err()}")
            draft = trial.folder / "undisturbed.json"
            draft.write_text(json.dumps((chore.outcome(folder), time.monotonic() - began)))
            draft.replace(kept)
        yield found
    finally:
        if server is not None:
            server.close()
