"""Reads `truth.jsonl`: what the simulated critic really did, beside the records of each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from audit.output.errors import Problem
from audit.records.lines import RecordedRun
from audit.vocabulary.drivers import DRIVERS
from audit.vocabulary.keys import RevisionKey
from collector.records import RecordError, Truth, decode_run
from collector.system.regular_files import RECORDS, RUN, read_regular

NAME: Final = "truth.jsonl"
WORST: Final = "worst"


class Known(NamedTuple):
    """What is true of a revision.

    Attributes:
        personality: of the critic.
        driver: the label of the rollout that the change was made for, or history, or none.
        driven_by_worst: whether that rollout is the worst one, under whatever label.
        names_worst: whether the answer names the worst rollout, under whatever label.
        discounts_worst: whether it sets the worst rollout aside.
    """

    personality: str
    driver: str
    driven_by_worst: bool
    names_worst: bool
    discounts_worst: bool


def read_truth(runs: Sequence[RecordedRun]) -> tuple[dict[RevisionKey, Truth], list[Problem]]:
    """The truth of every critic's answer, where it is known; and lines that cannot be read.

    A critic that was asked again has a line for each answer; the last one is that which could be read.

    Args:
        runs: of which some may have none: foreign logs, real models, packs and archives.
    """
    found: dict[RevisionKey, Truth] = {}
    problems: list[Problem] = []
    for run in runs:
        for path in dict.fromkeys(Path(file.file).parent / NAME for file in run.files):
            for truth in truths_in(path, problems):
                if (truth.condition, truth.env, truth.variant, truth.run) == run.identity:
                    found[RevisionKey(*run.identity, truth.iteration)] = truth
                else:
                    problems.append(Problem(str(path), None, "belongs to another run than the records beside it"))
                    break
    return found, problems


def truths_in(path: Path, problems: list[Problem]) -> Iterator[Truth]:
    """The lines of a file, which need not exist; what is no truth becomes a problem.

    Where several answers were asked for there are none: the lines do not tell which one was taken.
    """
    if _chooses_answers(path.parent):
        return
    decoder = msgspec.json.Decoder(Truth)
    try:
        lines = read_regular(path, RECORDS).splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        problems.append(Problem(str(path), None, f"cannot be read ({error.strerror or error})"))
        return
    for number, line in enumerate(lines, start=1):
        try:
            yield decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            problems.append(Problem(str(path), number, f"not a truth record ({error}); left out"))


def _chooses_answers(folder: Path) -> bool:
    try:
        switches = decode_run(read_regular(folder / "run.json", RUN)).switches
    except (OSError, RecordError):
        return False
    if "remedies" not in switches:
        return False
    from collector.remedies import acting_on, recorded

    return acting_on(recorded(switches), "answers") is not None


def known_of(truth: Truth, shown: Sequence[Mapping[str, Any]], worst_rollout: int | None) -> Known | None:
    """What is true of a revision whose critic was shown a worst rollout; None where it was not, or all were alike.

    Nor can a representative rollout be compared, which is shown alone.

    One rollout may have been shown under two labels: then the worst one may be meant by the other.

    Args:
        truth: what the critic recorded about itself.
        shown: the rollouts that it was shown.
        worst_rollout: index of the worst one.
    """
    rollouts = {each["label"]: each["rollout"] for each in shown}
    differ = len({each["return"] for each in shown}) > 1
    is_comparable = differ and truth.driver in DRIVERS
    if worst_rollout is None or worst_rollout not in rollouts.values() or not is_comparable:
        return None
    return Known(
        truth.personality,
        truth.driver,
        rollouts.get(truth.driver) == worst_rollout,
        rollouts.get(truth.mentioned or "") == worst_rollout or truth.discounts_worst,
        truth.discounts_worst,
    )
