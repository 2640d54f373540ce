"""Run folders of GEPA (`gepa.optimize`, `optimize_anything`, `dspy.GEPA`): `run_log.json` and `candidates.json`.

An iteration revises one candidate after a model has seen how it did on a minibatch; there is a line per proposal. The
folder's pickled state is never opened: all that is needed is in the two files, and in `run_log.txt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from audit.output.errors import count
from audit.records.locating import Found
from audit.sources.gepa_candidates import read_candidates
from audit.sources.gepa_checks import Order, disagreement, lacking
from audit.sources.gepa_entries import Entry, Task, read_entry, winners
from audit.sources.gepa_evidence import DATASET, shown_evidence
from audit.sources.gepa_pool import members
from audit.sources.gepa_statements import Statements, statements
from audit.sources.gepa_text_log import Texts, is_trustworthy, proposed_texts
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Capabilities, Translated
from audit.sources.json_items import ItemsError, items
from audit.sources.run_names import Folder, run_names
from audit.sources.tool_runs import (
    LogError,
    ToolRun,
    candidate,
    revision,
)
from collector.records import SelectionRule
from collector.system.regular_files import open_regular

SOURCE: Final = "gepa"
_STATE: Final = "gepa_state.bin"
_LOG: Final = "run_log.json"
_CANDIDATES: Final = "candidates.json"
_TEXT_LOG: Final = "run_log.txt"
_SIGNS_WITHIN: Final = 2**16
"""Bytes of a log in which a release's own keys are looked for."""

Text = dict[str, str] | None

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

    `entries` is a file of its own with what is needed of `run_log.json`; `unread` are iterations that are not in it;
    `are_all` is whether those are all candidates, and None without `candidates.json`; `datasets` are by the name of the
    iteration's folder; `most` is the largest number of proposals in an iteration.
    """

    entries: Path | None = None
    run: ToolRun | None = None
    unread: list[int] = field(default_factory=list)
    candidates: list[dict[str, str] | None] = field(default_factory=list)
    are_all: bool | None = None
    text_log: Path | None = None
    text_label: str = ""
    datasets: dict[str, Path] = field(default_factory=dict)
    most: int = 1
    merges: int = 0
    is_confirmed: bool = False
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
        """Whether it is in a folder with `run_log.json` and `candidates.json`, or what is left of one.

        The pickled state of a folder without these is claimed too, so that it can be said what is missing.
        """
        if found.name == _STATE:
            return not all(found.path.with_name(name).exists() for name in (_LOG, _CANDIDATES))
        if found.name in (_LOG, _CANDIDATES, _TEXT_LOG):
            return _is_run(found.path.parent)
        return found.name == DATASET and len(found.parts) > 3 and found.parts[-3] == "iterations"

    def take(self, found: Found, intake: Intake) -> None:
        """Read a file, or remember where it is."""
        if found.name == _STATE:
            intake.problem(found.label, None, NO_LOG)
            return
        is_dataset = found.name == DATASET
        folder = self._folders.setdefault(found.folder[:-2] if is_dataset else found.folder, _Folder())
        try:
            if is_dataset:
                folder.datasets[found.folder[-1]] = found.path
            elif found.name == _TEXT_LOG:
                folder.text_log, folder.text_label = found.path, found.label
            elif found.name == _CANDIDATES:
                folder.are_all = False
                folder.candidates, folder.are_all = read_candidates(found, intake)
            else:
                _take_log(found, folder, intake)
        except OSError as error:
            intake.problem(found.label, None, f"cannot be read ({error.strerror or error}); left out")

    def finish(self, intake: Intake) -> None:
        """Write the iterations of each run that has a `run_log.json`."""
        runs = {key: folder for key, folder in self._folders.items() if folder.run is not None}
        for folder in self._folders.values():
            if folder.run is None and folder.candidates and folder.text_log is not None:
                intake.problem(folder.text_label, None, f"without {_LOG}; no iteration can be read")
        if without := [folder.run.label for folder in runs.values() if folder.run and folder.text_log is None]:
            unknown = "scores on validation and most rejected texts are unknown"
            more = f" ({len(without) - 1} more like it)" if len(without) > 1 else ""
            intake.notes.append(f"{without[0]}: no {_TEXT_LOG} beside it; {unknown}{more}")
        copies: dict[str, str] = {}
        for key, name in run_names(runs, intake).items():
            _hand_over(runs[key], name, copies, intake)


def _is_run(folder: Path) -> bool:
    """Whether a folder is one of GEPA's; a file of such a name that is there alone has to look like GEPA's."""
    has_log, has_candidates = (folder / _LOG).exists(), (folder / _CANDIDATES).exists()
    if not has_log or has_candidates:
        return has_candidates and (has_log or (folder / _TEXT_LOG).exists())
    try:
        with open_regular(folder / _LOG) as stream:
            begins = stream.read(_SIGNS_WITHIN)
    except OSError:
        return False
    return b'"selected_program_candidate"' in begins


def _take_log(found: Found, folder: _Folder, intake: Intake) -> None:
    run, path = ToolRun(found.label, intake), intake.new_file("entries")
    read = 0
    with open_regular(found.path) as stream, path.open("wb") as entries:
        try:
            for read, value in enumerate(items(stream), start=1):
                try:
                    entry = read_entry(value)
                    entries.write(_encoder.encode(entry) + b"\n")
                except (LogError, UnicodeEncodeError) as error:
                    is_text = isinstance(error, UnicodeEncodeError)
                    run.fault("a text holds half a character" if is_text else str(error), read - 1)
                    folder.unread.append(read - 1)
        except ItemsError as error:
            intake.problem(found.label, None, f"{error}; {count(read, 'iteration')} read")
    folder.run, folder.entries = run, path


def _hand_over(folder: _Folder, name: tuple[str, int], copies: dict[str, str], intake: Intake) -> None:
    run = folder.run
    assert run is not None
    order = _sort_out(folder, run, intake)
    said = _stated(folder, order, intake)
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
    for entry, texts in _with_texts(folder, order, intake):
        if (differs := disagreement(entry, said)) is not None:
            run.fault(differs, entry.iteration, "kept as it is in run_log.json")
        scored = [task for task in entry.tasks if task.is_scored]
        accepted = winners(scored, len(entry.accepted)) if entry.tasks else []
        if accepted is None:
            run.fault("the log does not show which of its proposals were accepted", entry.iteration)
            continue
        places = {id(task): entry.iteration * folder.most + place for place, task in enumerate(entry.tasks)}
        skipped.update(places[id(task)] for task in entry.tasks if not task.is_scored)
        for task, text in zip(scored, _texts(folder, run, entry, accepted, texts), strict=True):
            is_accepted = any(task is each for each in accepted)
            try:
                initial = candidate("parent", folder.candidate(task.parent), task.before, ids=task.ids)
                revised = candidate("critic", text, task.after, ids=task.ids)
                evidence = shown_evidence(folder.datasets, run, entry, task)
                run.write(name, SOURCE, places[id(task)], **revision(initial, revised, evidence, accepted=is_accepted))
            except LogError as error:
                run.fault(str(error), places[id(task)])
    for member in members(_entries(folder), folder.candidates, said.validation, folder.most):
        run.joined(member)
    run.close(facts, copies)
    if skipped and facts.identity in intake.runs:
        intake.skipped[facts.identity] = skipped
    if folder.merges:
        intake.notes.append(f"{run.label}: {count(folder.merges, 'merge')} of two candidates dropped")


def _sort_out(folder: _Folder, run: ToolRun, intake: Intake) -> Order:
    """Leave out entries that cannot be where they are, and report what is missing beside them."""
    adds = [index for entry in _entries(folder) for index in entry.accepted]
    order = Order(folder.unread, adds, len(folder.candidates) if folder.are_all else None)
    path = intake.new_file("entries")
    anchors = set()
    with path.open("wb") as kept_entries:
        for entry in _entries(folder):
            try:
                order.check(entry)
            except LogError as error:
                run.fault(str(error), entry.iteration)
            else:
                kept_entries.write(_encoder.encode(entry) + b"\n")
                folder.note(entry)
                anchors.add(entry.anchor)
    folder.entries = path
    for missing in order.gaps():
        intake.problem(run.label, None, missing)
    if order.is_whole and (unused := sorted(folder.datasets.keys() - anchors)):
        are = f"{unused[0]}, of which no iteration has the name; not used"
        intake.problem(run.label, None, f"{count(len(unused), DATASET)} of other iterations: {are}")
    return order


def _stated(folder: _Folder, order: Order, intake: Intake) -> Statements:
    if folder.text_log is None:
        return Statements()
    try:
        said = statements(folder.text_log)
    except OSError as error:
        intake.problem(
            folder.text_label, None, f"cannot be read ({error.strerror or error}); rejected texts are unknown"
        )
        folder.text_log = None
        return Statements()
    for lack in lacking(order.last, order.candidates, said):
        intake.problem(folder.text_label, None, lack)
    return said


def _with_texts(folder: _Folder, order: Order, intake: Intake) -> Iterator[tuple[Entry, Texts]]:
    """The entries of a run, with the texts that its text log has for each."""
    path = folder.text_log
    confirmed = None if path is None else is_trustworthy(path, _entries(folder), folder.candidates)
    _compare_candidates(folder, order, intake, is_confirmed=bool(confirmed))
    if confirmed is False:
        others = f"has other texts of accepted proposals than {_CANDIDATES}; rejected texts are unknown"
        intake.problem(folder.text_label, None, others)
    elif path is not None and confirmed is None:
        intake.notes.append(f"{folder.text_label}: no accepted proposal confirms its texts; rejected ones are unknown")
    if path is None or not confirmed:
        return ((entry, None) for entry in _entries(folder))
    folder.is_confirmed = True
    return proposed_texts(path, _entries(folder), folder.candidates)


def _compare_candidates(folder: _Folder, order: Order, intake: Intake, *, is_confirmed: bool) -> None:
    """Compare the numbers of candidates; where some are missing, texts of those behind them may be another's."""
    assert folder.run is not None
    has, known = order.candidates, len(folder.candidates)
    if folder.are_all is None:
        intake.problem(folder.run.label, None, f"without {_CANDIDATES}; texts are unknown")
    elif folder.are_all and (known < has or (known > has and order.is_whole)):
        is_short = known < has and not is_confirmed
        effect = "which are missing is unknown, and so are all texts" if is_short else "texts are those of their index"
        intake.problem(folder.run.label, None, f"states {count(has, 'candidate')}, {_CANDIDATES} has {known}; {effect}")
        folder.candidates = [] if is_short else folder.candidates


def _entries(folder: _Folder) -> Iterable[Entry]:
    assert folder.entries is not None
    with folder.entries.open("rb") as stream:
        for line in stream:
            yield _decoder.decode(line)


def _texts(folder: _Folder, run: ToolRun, entry: Entry, accepted: Sequence[Task], logged: Texts) -> list[Text]:
    """The texts of an entry's scored proposals: in what has them they are the same, or unknown."""
    scored = [task for task in entry.tasks if task.is_scored]
    texts: list[Text] = []
    for place, task in enumerate(scored):
        known = [] if logged is None else [logged[place]]
        if place == 0 and entry.proposed is not None:
            known.append(entry.proposed)
        # Which of several is whose depends on a strategy that the log does not name.
        if len(accepted) == 1 and task is accepted[0] and (text := folder.candidate(entry.accepted[0])) is not None:
            known.append(text)
        if known and all(each == known[0] for each in known):
            texts.append(known[0])
            continue
        texts.append(None)
        if known:
            run.fault("its text is another one in another file", entry.iteration, "its text is unknown")
        elif folder.is_confirmed and folder.candidate(task.parent) is not None:
            run.fault("run_log.txt does not show its text, or where it ends", entry.iteration, "its text is unknown")
    return texts
