"""Names of tasks and numbers of runs by their folders, since tools write neither into their logs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from audit.sources.intake import Intake

Folder = tuple[str, ...]

_WORDS: Final = re.compile(r"[^\W\d_]+|\d+")
_OF_TOOLS: Final = re.compile(
    r"\d+|results?|out(?:puts?|dir)?|run(?:s|dir)?|log(?:s|dir)?|dirs?|folder|gepa|openevolve|evolve|evo(?:lution)?|shinka"
    r"|shinkaevolve|dspy|optimi[sz](?:e|er|ation)|anything|exps?|experiments?|seeds?|trials?|reps?|repeat|replicat(?:e|ion)"
    r"|repetition|try|attempt|jobs?|sessions?|multirun|sweep|checkpoints?|artifacts|archives?|default|example|async|utc|[trsvz]",
    re.IGNORECASE,
)
"""Words in the names that tools give to folders of runs, whatever the task, and users after them."""
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_RANDOM: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}", re.IGNORECASE)


def is_of_tools(name: str) -> bool:
    """Whether a folder's name is one that tools choose: of their words, numbers and times alone, or a random one."""
    return _RANDOM.fullmatch(name) is not None or all(map(_OF_TOOLS.fullmatch, _WORDS.findall(name)))


def run_names(folders: Iterable[Folder], intake: Intake) -> dict[Folder, tuple[str, int]]:
    """The task's name and the run's number of each run folder.

    The task is called by the innermost folder whose name no tool chose, and by the run's own folder where there is none
    below the home folder or the first level of the disk. A folder between them that is called by a number (`run-3`,
    `seed_3`, `3`) is that run. A number that is taken, or 0, becomes the next free one.

    Args:
        folders: of the runs, outermost first.
        intake: takes a note where no folder names a task.
    """
    names: dict[Folder, tuple[str, int]] = {}
    taken: dict[str, set[int]] = {}
    tasks = {folder: _task(folder) for folder in folders}
    numbers = {folder: _number(folder[task + 1 :]) for folder, task in tasks.items()}
    for folder in sorted(tasks, key=lambda each: (numbers[each] is None, each)):
        env, number = folder[tasks[folder]], numbers[folder] or 0
        used = taken.setdefault(env, set())
        if number == 0 or number in used:
            number = next(free for free in range(1, len(used) + 2) if free not in used)
        used.add(number)
        names[folder] = (env, number)
    nameless = [folder for folder in sorted(tasks) if is_of_tools(names[folder][0])]
    if nameless:
        more = f" (and {len(nameless) - 1} more)" if len(nameless) > 1 else ""
        path, env = Path(*nameless[0]), names[nameless[0]][0]
        intake.notes.append(f"{path}: no folder above it has a name of its own, so that its task is called {env}{more}")
    return names


def _task(folder: Folder) -> int:
    """The place of the folder that names the task."""
    home = Path.home().parts
    least = len(home) if folder[: len(home)] == home else 2 if folder[0] == "/" else 0
    chosen = (place for place in range(len(folder) - 1, least - 1, -1) if not is_of_tools(folder[place]))
    return next(chosen, len(folder) - 1)


def _number(folder: Folder) -> int | None:
    """The number that the innermost of some folders is called by; dates and times are none."""
    numbers = (re.findall(r"\d+", name) for name in reversed(folder))
    found = (each[0] for each in numbers if len(each) == 1 and len(each[0]) <= 9 and not _DATE.fullmatch(each[0]))
    return next(map(int, found), None)
