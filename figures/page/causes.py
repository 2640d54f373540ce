"""The section of the page on experiments: what each found in sentences, and all effects as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import starmap
from pathlib import Path
from typing import Final

from audit.output.names import model_name
from audit.output.notes import simulated
from figures.data import Records
from figures.names import label, name
from figures.tables import MISSING, Column, Row, Table, count, shown, text

STEM: Final = "causes"
TITLE: Final = "Causes"
CAPTION: Final = (
    "Every effect of the experiments, primary hypotheses first. Share: percentage of revisions that follow a rollout "
    "because of what is named, above the mean of the other two of its kind; of wording, length and order of headings, "
    "a share-equivalent. Edits: energy distance between the answers under the arm and under its control, in units of "
    "the distance between two answers to one prompt. Text: change in the share of answers that are justified by the "
    "rollout. Brackets hold 95% intervals over runs. Corrected: p by Holm's method within the primary family, by "
    "Benjamini and Hochberg's among the other planned tests. Beyond placebo: p of the hypothesis that rewording the "
    "prompt does as much."
)
Paragraph = tuple[str, Sequence[str]]
"""A sentence, and the points under it."""


def paragraphs(plans: Sequence[Path]) -> list[Paragraph]:
    """What the reports on some plans state, with a warning where no language model answered.

    Raises:
        AuditError: a plan was changed, or calls have no answer yet.
    """
    from audit.interventions.relations import finished  # and with it all that runs policies

    found: list[Paragraph] = []
    for plan in plans:
        report = finished(plan)
        caveat = simulated([(report.plan.model, report.plan.backend)])
        found += _grouped([*([caveat] if caveat else []), *report.lines()])
    return found


def effects_table(records: Records) -> Table:
    """All effects, as `audit intervene report` lists them, with who answered: not the model of the records."""
    several = len({row["plan_sha256"] for row in records.effects}) > 1
    columns = (
        *([text("model", "Model")] if several else []),
        text("name", "Factor"),
        Column("On", _outcome, "outcome", numeric=False),
        Column("Arm", _arms, "arm", numeric=False),
        Column("Effect", _estimate, "estimate"),
        *(
            Column(heading, lambda row, key=key: shown(row[key], "{:.2g}"), key)  # type: ignore[misc]
            for key, heading in (("p", "p"), ("p_adjusted", "Corrected"), ("beyond_placebo_p", "Beyond placebo"))
        ),
        count("units", "Prompts"),
        count("runs", "Runs"),
        Column("Primary", lambda row: "yes" if row["primary"] else "no", "primary", numeric=False),
        text("verdict", "Verdict"),
    )
    models = sorted({(row["model"], row["backend"]) for row in records.effects})
    note = f"Answers of {', '.join(starmap(model_name, models))}."
    caveat = simulated(models)
    return Table(STEM, TITLE, CAPTION, f"{note} {caveat}" if caveat else note, columns, records.effects)


def _grouped(lines: Iterable[str]) -> list[Paragraph]:
    """Lines as paragraphs with the points that follow them."""
    found: list[tuple[str, list[str]]] = []
    for line in filter(None, lines):
        if line.startswith("- ") and found:
            found[-1][1].append(line.removeprefix("- "))
        else:
            found.append((line, []))
    return list(found)


def _outcome(row: Row) -> str:
    return f"{row['outcome']}, {name(str(row['env']))}" if row["env"] else str(row["outcome"])


def _arms(row: Row) -> str:
    return label(f"{row['arm']} against {row['control']}" if row["control"] else str(row["arm"]))


def _estimate(row: Row) -> str:
    form = "{:z.0%}" if row["outcome"] == "share" else "{:.2g}"
    value, low, high = (shown(row[key], form) for key in ("estimate", "low", "high"))
    return value if MISSING in {value, low, high} else f"{value} [{low}, {high}]"
