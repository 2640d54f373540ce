"""What an attempt of any part is given: its own random numbers, a folder, and where to report what it found."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

PATIENCE: Final = 30.0
"""Seconds that anything may take; longer is a hang."""
_KEPT: Final = 1
"""So many failures of a kind are kept with all they need to be seen again, by each process."""
_reported: Final[dict[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that should not be. Failures of one `kind` are reported once, with their number."""

    kind: str
    what: str
    reproduce: str


@dataclass
class Trial:
    """One attempt.

    Attributes:
        part, seed, number: what it is drawn from; the same three give the same attempt.
        folder: its own, empty at first, gone afterwards.
        keep: where what shows a failure stays.
        report: passes events on to the campaign.
    """

    part: str
    seed: int
    number: int
    folder: Path
    keep: Path
    report: Callable[[tuple[Any, ...]], None]
    rng: Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = Random(f"{self.seed}/{self.part}/{self.number}")

    @property
    def again(self) -> str:
        """The command that makes this attempt again."""
        return f"python -m benchmarks torture --part {self.part} --seed {self.seed} --try {self.number}"

    def step(self, doing: str, seconds: float = PATIENCE) -> None:
        """Report what is done next: should it hang, or kill this process, that is how to see it again."""
        self.report(("step", doing, seconds))

    def count(self, tried: int = 1) -> None:
        """Count so many more things as tried."""
        self.report(("count", tried))

    def fail(self, kind: str, what: str, reproduce: str = "", shown: Path | None = None) -> None:
        """Report that something did not hold.

        Args:
            kind: the same for all failures that are one.
            what: the particulars.
            reproduce: a shell command; the attempt itself if there is none shorter. `{}` becomes where `shown` is.
            shown: a file or folder that it needs, which is kept.
        """
        seen = _reported[kind] = _reported.get(kind, 0) + 1
        if shown is not None and seen <= _KEPT:
            kept = self.keep / f"{self.part}-{self.number}-{len(_reported)}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            if shown.is_dir():
                shutil.copytree(shown, kept, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy(shown, kept)
            place = kept.relative_to(Path.cwd()) if kept.is_relative_to(Path.cwd()) else kept
            reproduce = reproduce.replace("{}", shlex.quote(str(place)))
        if not reproduce or "{}" in reproduce:
            reproduce = self.again
        self.report(("failed", Failure(kind, what, reproduce)))

    def is_new(self, kind: str) -> bool:
        """Whether failures of a kind are still worth the time that it takes to make them small."""
        return _reported.get(kind, 0) < _KEPT


def environment(folder: Path) -> dict[str, str]:
    """The environment of commands: nothing of the user's is read or written, and no server elsewhere is asked."""
    inherited = {name: value for name, value in os.environ.items() if not name.upper().endswith(("_PROXY", "_API_KEY"))}
    for name in ("tmp", "cache", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    nowhere = "http://127.0.0.1:9"
    return inherited | {
        "TMPDIR": str(folder / "tmp"),
        "SALIENCE_AUDIT_CACHE": str(folder / "cache"),
        "HOME": str(folder / "home"),
        "MPLCONFIGDIR": str(folder / "home"),
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(folder.parent / "numba")),
        "OLLAMA_HOST": nowhere,
        "OPENAI_BASE_URL": f"{nowhere}/v1",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(Path.cwd()), os.environ.get("PYTHONPATH", "")))),
        "COLUMNS": "100",
    }


COMMANDS: Final = {"collect": "collector.cli", "audit": "audit.cli", "stats": "stats.cli", "figures": "figures.cli"}


def python(program: str, *arguments: object) -> list[str]:
    """The command line of one of the project's programs, as it is typed."""
    code = f"from {COMMANDS[program]} import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


def typed(program: str, *arguments: object) -> str:
    """The same for people."""
    return f"{program} {shlex.join(map(str, arguments))}".strip()


def shown_line(program: str, arguments: Sequence[object], shown: Path) -> str:
    """A command line in which `{}` is where data that is kept will be, for `Trial.fail`."""
    words = [str(each).replace(str(shown), "{}") for each in arguments]
    return typed(program, *words).replace("'{}'", "{}")
