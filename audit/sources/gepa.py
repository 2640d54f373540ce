"""Run folders of GEPA (`gepa.optimize`, `optimize_anything`, `dspy.GEPA`): `run_log.json` and `candidates.json`.

An iteration revises one candidate after a model has seen how it did on a minibatch; there is a line per proposal. The
folder's pickled state is never opened: all that is needed is in the two files, and in `run_log.txt`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from audit.output.errors import count
from audit.sources.files import Found
from audit.sources.gepa_entries import Entry, Task, components, read_entry, winners
from audit.sources.gepa_pool import members, validation_scores
from audit.sources.gepa_text_log import Texts, is_trustworthy, proposed_texts
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Capabilities, ShownEvidence, Translated
from audit.sources.json_items import ItemsError, items
from audit.sources.run_names import Folder, run_names
from audit.sources.tool_runs import (
    LogError,
    ToolRun,
    candidate,
    cut,
    kept,
    left_out,
    revision,
)
from audit.vocabulary.evidence import ShownRollout
from collector.records import SelectionRule
from collector.system.regular_files import read_regular

SOURCE: Final = "gepa"
LARGEST: Final = 2**28
"""Bytes of `candidates.json`, and of a `reflective_dataset.json`, that are read."""
_STATE: Final = "gepa_state.bin"
_LOG: Final = "run_log.json"
_CANDIDATES: Final = "candidates.json"
_TEXT_LOG: Final = "run_log.txt"
_DATASET: Final = "reflective_dataset.json"

NO_LOG: Final = (
    "without run_log.json and candidates.json: releases of GEPA before 0.1.1 do not write them, nor does a run that "
    "has just begun; the pickled state is not opened, and a recorder can be used from 0.1.0 on (docs/optimizers.md)"
)
"""Why nothing is read of a folder that has a state alone."""

_encoder: Final = msgspec.json.Encoder()
_decoder: Final = msgspec.json.Decoder(Entry)


@dataclass
class _Folder:
    """What has been found of one run.

    `entries` is a file of its own with what is needed of `run_log.json`; `datasets` are by the name of the iteration's
    folder; `most` is the largest number of proposals in an iteration.
    """

    label: str = ""
    entries: Path | None = None
    run: ToolRun | None = None
    candidates: list[dict[str, str] | None] = field(default_factory=list)
    text_log: Path | None = None
    datasets: dict[str, Path] = field(default_factory=dict)
    most: int = 1
    merges: int = 0
    kept_equal: bool = False
    refused_equal: bool = False

    def note(self, entry: Entry) -> None:
        """Learn from an entry what holds for the run."""
        self.most = max(self.most, len(entry.tasks))
        self.merges += not entry.tasks
        if len(entry.tasks) == 1 and entry.tasks[0].is_scored and entry.tasks[0].gain == 0:
            self.kept_equal |= bool(entry.accepted)
            self.refused_equal |= not entry.accepted

    def candidate(self, index: int) -> dict[str, str] | None:
        """The text of a candidate, where it is known."""
        return self.candidates[index] if index < len(self.candidates) else None

    @property
    def rule(self) -> SelectionRule:
        """Which proposals it keeps: with equal scores as well, or higher ones only."""
        return "better" if self.kept_equal and not self.refused_equal else "strict"


class GepaSource:
    """Puts the files of each run folder together."""

    capabilities: ClassVar = {SOURCE: Capabilities(Translated)}
    remarks: ClassVar = {
        SOURCE: (
            "GEPA skips minibatches whose scores are all perfect, so its revisions are of imperfect ones only.",
            "Its folder holds neither prompts nor answers of the model: what answers cite needs a recorder.",
            "Texts of rejected proposals are known from the agent state, or from run_log.txt where it is unambiguous.",
            "Merges of two candidates are dropped: no model is shown anything.",
            "Where an iteration has several proposals and a strategy kept some of those that improved, it is left out.",
        )
    }
    looked_for = "run_log.json with candidates.json (a run folder of GEPA)"

    def __init__(self) -> None:
        self._folders: dict[Folder, _Folder] = {}

    def claims(self, found: Found) -> bool:
        """Whether it is in a folder with `run_log.json` and `candidates.json`, as far as that can be seen.

        The pickled state of a folder without these is claimed too, so that it can be said what is missing.
        """
        if found.name == _STATE:
            path = found.path
            return path is not None and not all(path.with_name(name).exists() for name in (_LOG, _CANDIDATES))
        if found.name in (_LOG, _CANDIDATES, _TEXT_LOG):
            path = found.path
            return path is None or all(path.with_name(name).exists() for name in (_LOG, _CANDIDATES))
        return found.name == _DATASET and len(found.parts) > 3 and found.parts[-3] == "iterations"

    def take(self, found: Found, intake: Intake) -> None:
        """Read a file, or remember where it is."""
        if found.name == _STATE:
            intake.problem(found.label, None, NO_LOG)
            return
        is_dataset = found.name == _DATASET
        folder = self._folders.setdefault(found.folder[:-2] if is_dataset else found.folder, _Folder())
        try:
            if is_dataset:
                folder.datasets[found.folder[-1]] = kept(found, intake)
            elif found.name == _TEXT_LOG:
                folder.text_log = kept(found, intake)
            elif found.name == _CANDIDATES:
                _take_candidates(found, folder, intake)
            else:
                _take_log(found, folder, intake)
        except OSError as error:
            left_out(found, error, intake)

    def finish(self, intake: Intake) -> None:
        """Write the iterations of each run that has a `run_log.json`."""
        runs = {key: folder for key, folder in self._folders.items() if folder.run is not None}
        copies: dict[str, str] = {}
        for key, name in run_names(runs, intake).items():
            _hand_over(runs[key], name, copies, intake)


def _take_candidates(found: Found, folder: _Folder, intake: Intake) -> None:
    if found.path is not None and found.path.stat().st_size > LARGEST:
        intake.problem(found.label, None, f"larger than {LARGEST >> 20} MiB; its texts are unknown")
        return
    try:
        with found.open() as stream:
            folder.candidates.extend(components(each) for each in items(stream))
    except ItemsError as error:
        intake.problem(found.label, None, f"{error}; {count(len(folder.candidates), 'candidate')} read")
    if None in folder.candidates:
        unread = folder.candidates.count(None)
        intake.problem(found.label, None, f"{count(unread, 'candidate')} without texts by component; unknown")


def _take_log(found: Found, folder: _Folder, intake: Intake) -> None:
    run, path = ToolRun(found.label, intake), intake.new_file("entries")
    read = 0
    with found.open() as stream, path.open("wb") as entries:
        try:
            for read, value in enumerate(items(stream), start=1):
                try:
                    entry = read_entry(value)
                    entries.write(_encoder.encode(entry) + b"\n")
                except LogError as error:
                    run.fault(str(error), read - 1)
                except UnicodeEncodeError:
                    run.fault("a text holds half a character", read - 1)
                else:
                    folder.note(entry)
        except ItemsError as error:
            intake.problem(found.label, None, f"{error}; {count(read, 'iteration')} read")
    folder.run, folder.entries = run, path


def _hand_over(folder: _Folder, name: tuple[str, int], copies: dict[str, str], intake: Intake) -> None:
    run = folder.run
    assert run is not None
    env, number = name
    facts = RunFacts(
        condition=SOURCE,
        env=env,
        variant=SOURCE,
        run=number,
        source=SOURCE,
        backend=SOURCE,
        candidates="text",
        selection_rule=folder.rule,
    )
    skipped: set[int] = set()
    for entry, texts in _with_texts(folder, intake):
        scored = [task for task in entry.tasks if task.is_scored]
        accepted = winners(scored, len(entry.accepted)) if entry.tasks else []
        if accepted is None:
            run.fault("the log does not show which of its proposals were accepted", entry.iteration)
            continue
        places = {id(task): entry.iteration * folder.most + place for place, task in enumerate(entry.tasks)}
        skipped.update(places[id(task)] for task in entry.tasks if not task.is_scored)
        for task, text in zip(scored, texts or _known_texts(folder, entry, scored, accepted), strict=True):
            is_accepted = any(task is each for each in accepted)
            try:
                initial = candidate("parent", folder.candidate(task.parent), task.before, ids=task.ids)
                revised = candidate("critic", text, task.after, ids=task.ids)
                evidence = _evidence(folder, entry, task)
                run.write(name, SOURCE, places[id(task)], **revision(initial, revised, evidence, accepted=is_accepted))
            except LogError as error:
                run.fault(str(error), places[id(task)])
    _write_pool(folder, run, intake)
    run.close(facts, copies)
    if skipped and facts.identity in intake.runs:
        intake.skipped[facts.identity] = skipped
    if folder.merges:
        intake.notes.append(f"{run.label}: {count(folder.merges, 'merge')} of two candidates dropped")


def _write_pool(folder: _Folder, run: ToolRun, intake: Intake) -> None:
    assert folder.entries is not None
    try:
        validation = validation_scores(folder.text_log)
    except OSError as error:
        intake.problem(str(folder.text_log), None, f"cannot be read ({error.strerror or error}); no validation scores")
        validation = {}
    for member in members(_entries(folder.entries), folder.candidates, validation, folder.most):
        run.joined(member)


def _with_texts(folder: _Folder, intake: Intake) -> Iterator[tuple[Entry, Texts]]:
    """The entries of a run, with the texts that its text log has for each."""
    path = folder.text_log
    assert folder.entries is not None
    read = functools.partial(_entries, folder.entries)
    try:
        if path is not None and is_trustworthy(path, read(), folder.candidates):
            return proposed_texts(path, read(), folder.candidates)
    except OSError as error:
        intake.problem(str(path), None, f"cannot be read ({error.strerror or error}); rejected texts are unknown")
    return ((entry, None) for entry in read())


def _entries(path: Path) -> Iterable[Entry]:
    with path.open("rb") as stream:
        for line in stream:
            yield _decoder.decode(line)


def _known_texts(
    folder: _Folder, entry: Entry, scored: Sequence[Task], accepted: Sequence[Task]
) -> list[dict[str, str] | None]:
    """The texts of an entry's proposals without the text log: the accepted one, if it is one, and the first."""
    texts: list[dict[str, str] | None] = [None] * len(scored)
    if texts:
        texts[0] = entry.proposed
    for place, task in enumerate(scored):
        # Which of several is whose depends on a strategy that the log does not name.
        if len(accepted) == 1 and task is accepted[0]:
            texts[place] = folder.candidate(entry.accepted[0])
    return texts


def _evidence(folder: _Folder, entry: Entry, task: Task) -> ShownEvidence:
    texts = _shown_texts(folder, entry, len(task.ids)) or [msgspec.UNSET] * len(task.ids)
    shown = [
        ShownRollout(label="item", rollout=place, return_=score, name=f"Example {place + 1}", text=text)
        for place, (score, text) in enumerate(zip(task.before, texts, strict=True))
    ]
    return ShownEvidence(kind="batch", shown=shown)


def _shown_texts(folder: _Folder, entry: Entry, length: int) -> Sequence[str | msgspec.UnsetType] | None:
    """What was shown of each example, where the run wrote it: of the first component, and of one proposal alone."""
    path = folder.datasets.get(entry.anchor or "")
    if path is None or len(entry.tasks) != 1:
        return None
    try:
        dataset = json.loads(read_regular(path, LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    records = next(iter(dataset.values()), None) if isinstance(dataset, dict) else None
    # An adapter may leave examples out, and then it is unknown which.
    if not isinstance(records, list) or len(records) != length:
        return None
    return [cut(_rendered(record)) for record in records]


def _rendered(record: object, level: int = 2) -> str:
    """A record as GEPA's default prompt shows it below its heading."""
    if isinstance(record, dict) and level <= 6:
        return "".join(f"{'#' * level} {key}\n{_rendered(value, level + 1)}" for key, value in record.items())
    if isinstance(record, list) and level <= 6:
        return "".join(f"{'#' * level} Item {n}\n{_rendered(each, level + 1)}" for n, each in enumerate(record, 1))
    return f"{str(record).strip()}\n\n"
