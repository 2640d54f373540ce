"""What each command needs of the records, as a table. A test compares it with what the commands do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

Facts = Mapping[str, Any]
"""A row of the relation `holdings`, with `calls`, `truth` (runs that have such a file) and `controls`."""


class Need(NamedTuple):
    """Something that a command needs: in how many (a column of the facts) of how many, and a message for none.

    `lack_of_texts` is the message where candidates are texts.
    """

    column: str
    of: str
    lack: str
    lack_of_texts: str | None = None

    def message(self, facts: Facts) -> str:
        """The message for none."""
        return self.lack_of_texts if self.lack_of_texts and facts["text_runs"] == facts["runs"] else self.lack


NOTHING_TO_RUN: Final = "candidates are texts: nothing to run"
ITERATIONS: Final = Need("iterations", "iterations", "no finished iteration")
REVISIONS: Final = Need("revisions", "revisions", "no revisions: no iteration has two candidates")
THREE: Final = Need("three", "revisions", "no critic saw worst, median and best rollout, or a batch of scored items")
STRUCTURED: Final = Need(
    *("structured", "three", "no returns of single rollouts"), lack_of_texts="no two scored items beside each other"
)
CITING: Final = Need("citing", "structured", "no critic's answers", "no critic's answers with a rationale")
EDITS: Final = Need("edits", "revisions", "no parameters", "no revision has both texts")
PATTERNS: Final = Need("patterned", "edits", "no parameters", "scores outside 0 to 1, and no score_range in run.json")
ANSWERS: Final = Need("answers", "revisions", "no critic's answers", "no critic's answers with a rationale")
PARAMETERS: Final = Need("parameters", "candidates", "no parameters", NOTHING_TO_RUN)
RETURNS: Final = Need("returns", "candidates", "no returns of single rollouts", "no scores of single examples")
SEEDS: Final = Need("seeds", "candidates", "no seeds", NOTHING_TO_RUN)
TASK: Final = Need("known_task", "known_task", "not one of the ten tasks (--task-module)", NOTHING_TO_RUN)
TRUTH: Final = Need("truth", "runs", "no truth.jsonl, which the simulated backend alone writes")
CONTROLS: Final = Need("controls", "controls", "no puresearch runs beside it to compare with")
COMPARED: Final = Need(
    "compared", "revisions", "no two items shown beside each other with an answer or texts to compare"
)
RERUN: Final = (PARAMETERS, RETURNS, SEEDS, TASK)


@dataclass(frozen=True, slots=True)
class Command:
    """What a command requires, what it can use in addition, and a message for where that is missing."""

    needs: tuple[Need, ...]
    wishes: tuple[Need, ...] = ()
    without: str = ""


COMMANDS: Final[Mapping[str, Command]] = {
    "summary": Command((ITERATIONS,), (REVISIONS, EDITS)),
    "runs": Command((ITERATIONS,)),
    "revisions": Command((REVISIONS,), (RETURNS, EDITS)),
    "show": Command((REVISIONS,), (RETURNS, EDITS)),
    "patterns": Command((REVISIONS, EDITS, PATTERNS)),
    "agreement": Command((REVISIONS, THREE, STRUCTURED)),
    "salience": Command((REVISIONS, THREE, STRUCTURED, CITING)),
    "rates": Command((REVISIONS, THREE, STRUCTURED, CITING)),
    "severity": Command((REVISIONS, THREE, STRUCTURED, CITING)),
    "noise": Command((REVISIONS, RETURNS)),
    "controls": Command((REVISIONS,), (CONTROLS,)),
    "positions": Command((REVISIONS, COMPARED)),
    "find": Command((REVISIONS,), (RETURNS, EDITS)),
    "sensitivity": Command((REVISIONS, EDITS, PATTERNS)),
    "verify": Command((RETURNS,), RERUN, without="means and evidence only: "),
    "replay": Command(RERUN),
    "rescore": Command((PARAMETERS, TASK)),
    "calibrate": Command((REVISIONS, ANSWERS, TRUTH)),
    "sample": Command((REVISIONS, ANSWERS)),
    "validate": Command((REVISIONS, ANSWERS)),
    "judge": Command((REVISIONS, ANSWERS)),
}
"""The commands that read records. `pack`, `export`, `import`, `check` and `sql` take whatever there is."""


class Verdict(NamedTuple):
    """Whether a command is supported, and why not; or for how much, and what is missing."""

    supported: bool
    reason: str | None


def judge(command: Command, facts: Facts) -> Verdict:
    """Determine whether records have what a command needs."""
    for need in command.needs:
        if not facts[need.column]:
            return Verdict(False, need.message(facts))
    absent = list(dict.fromkeys(need.message(facts) for need in command.wishes if not facts[need.column]))
    partial = [
        f"{need.column} in {facts[need.column]} of {facts[need.of]}"
        for need in dict.fromkeys((*command.needs, *command.wishes))
        if 0 < facts[need.column] < facts[need.of]
    ]
    remarks = [*([command.without + ", ".join(absent)] if absent else []), *partial]
    return Verdict(True, "; ".join(remarks) or None)
