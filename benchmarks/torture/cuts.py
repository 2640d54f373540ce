"""Power cuts at any moment of the commands that write: what was not synced is lost; then the same command again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from benchmarks.torture.chores import CHORES, Server, finish, served, undisturbed
from benchmarks.torture.trial import Trial

ORDER: Final = ("collect", "collect, served", "import", "pack", "judge", "collect", "cache")

_events: dict[str, int] = {}


def attempt(trial: Trial) -> None:
    """Cut the power once or twice, let the command end, and compare."""
    rng = trial.rng
    name = ORDER[trial.number % len(ORDER)]
    chore = CHORES[name]
    undisturbed(trial, name)
    folder = trial.folder / "cut"
    folder.mkdir()
    chore.prepare(trial, folder)
    with served(chore) as server:
        events = _count(trial, name, server)
        cuts: list[int] = []
        for _ in range(rng.randint(1, 2)):
            # The end is where drafts take their places.
            event = rng.choice((rng.randint(1, events), max(1, events - rng.randrange(8))))
            if _run(trial, name, folder, server, event) != 99:
                break
            cuts.append(event)
            trial.count()
            if chore.refuses and any((folder / place).exists() for place in chore.writes):
                break
        what = f"power cuts before events {cuts} of {events}"
        finish(trial, name, folder, server, what, chore.recorded(folder))


def _count(trial: Trial, name: str, server: Server | None) -> int:
    if name not in _events:
        folder = trial.folder / "counted"
        folder.mkdir()
        CHORES[name].prepare(trial, folder)
        _run(trial, name, folder, server, 0)
        _events[name] = int(_counted(folder).read_text())
    return _events[name]


def _counted(folder: Path) -> Path:
    return folder.with_suffix(".events")


def _run(trial: Trial, name: str, folder: Path, server: Server | None, event: int) -> int:
    trial.step(f"{name}, cut before event {event}", 120.0)
    seed = f"{trial.seed}/{trial.number}/{event}"
    wrapped = (sys.executable, "-m", "benchmarks.torture.cutting", str(event), seed, str(_counted(folder)))
    return CHORES[name].start(folder, server, wrapped).wait()
