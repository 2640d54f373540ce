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
    r"|repetition|try|attempt|jobs?|sessions?|multirun|sweep|checkpoints?|ckpts?|artifacts?|archives?|files|gens?|generations?|iter(?:ation)?s?|wandb|mlruns"
    r"|mlartifacts|latest|tmp|temp|default|example|async|utc|[trsvz]",
    re.IGNORECASE,
)
"""Words in the names that tools give to folders of runs, whatever the task, and users after them."""
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_RANDOM: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|tmp[._-]?\w{6,}"
    r"|(?:offline-)?run-\d{8}_\d{6}-[\w-]+",  # of Weights & Biases, with the id of the run
    re.IGNORECASE,
)
_OF_STATES: Final = re.compile(r"(?:gen|generation|iter|iteration|checkpoint|ckpt)s?[\W_]*\d+", re.IGNORECASE)
"""Folders that are called by a state of a run, whose number is not the run's."""
_OF_SYSTEMS: Final = re.compile(
    r"/|tmp|var|home|root|users|mnt|media|volumes|opt|srv|usr|dev|private|data|work|workspaces?|content|app|https?:|s3:|gs:|",
    re.IGNORECASE,
)
"""Where a disk or a URL begins, on the usual systems."""


def is_of_tools(name: str) -> bool:
    """Whether a folder's name is one that tools choose: of their words, numbers and times alone, or a random one."""
    return _RANDOM.fullmatch(name) is not None or all(map(_OF_TOOLS.fullmatch, _WORDS.findall(name)))


def run_names(folders: Iterable[Folder], intake: Intake) -> dict[Folder, tuple[str, int]]:
    """The task's name and the run's number of each run folder.

    The task is called by the innermost folder whose name no tool chose, and where there is none below the home folder,
    by the outermost of those that tools named. A folder between them that is called by a number (`run-3`, `seed_3`,
    `3`) is that run. A number that is taken, or 0, becomes the next free one.

    Args:
        folders: of the runs, outermost first.
        intake: takes a note where no folder names a task.
    """
    names: dict[Folder, tuple[str, int]] = {}
    taken: dict[str, set[int]] = {}
    tasks = {folder: folder[: _task(folder) + 1] for folder in folders}
    nameless = sorted({task for task in tasks.values() if is_of_tools(task[-1])})
    numbers = {folder: _number(folder[len(task) :]) for folder, task in tasks.items()}
    for folder in sorted(tasks, key=lambda each: (numbers[each] is None, each)):
        task, number = tasks[folder], numbers[folder] or 0
        # Folders that tools named alike in two places are no runs of one task.
        is_one = task not in nameless or all(each[-1] != task[-1] or each == task for each in nameless)
        env = task[-1] if is_one else "-".join(task[1:])
        used = taken.setdefault(env, set())
        if number == 0 or number in used:
            number = next(free for free in range(1, len(used) + 2) if free not in used)
        used.add(number)
        names[folder] = (env, number)
    for task in nameless:
        env = next(names[folder][0] for folder in names if tasks[folder] == task)
        intake.notes.append(
            f"{Path(*task)}: no folder above it has a name of its own, so that its task is called {env}"
        )
    return names


def _task(folder: Folder) -> int:
    """The place of the folder that names the task."""
    home = Path.home().parts
    least = 1 if _OF_SYSTEMS.fullmatch(folder[0]) else 0
    if folder[: len(home)] == home:
        least = len(home)
    elif len(folder) > 2 and _OF_SYSTEMS.fullmatch(folder[1]):
        least = 3 if folder[1].lower() in ("home", "users") else 2
    while least < len(folder) - 1 and _RANDOM.fullmatch(folder[least]):
        least += 1
    chosen = [place for place in range(least, len(folder)) if not is_of_tools(folder[place])]
    return chosen[-1] if chosen else min(least, len(folder) - 1)


def _number(folder: Folder) -> int | None:
    """The number that the innermost of some folders is called by; dates, times, random names and states are none."""
    names = (name for name in reversed(folder) if not (_RANDOM.fullmatch(name) or _OF_STATES.fullmatch(name)))
    numbers = (re.findall(r"\d+", name) for name in names)
    found = (each[0] for each in numbers if len(each) == 1 and len(each[0]) <= 9 and not _DATE.fullmatch(each[0]))
    return next(map(int, found), None)
