"""The section of the page on remedies: what the report states, and every remedy as a table."""

from __future__ import annotations

from typing import Final

from audit.output.names import model_name
from audit.output.notes import simulated
from figures.page.causes import Paragraph
from figures.plots.remedies import STEM, TITLE, Remedies
from figures.tables import MISSING, Column, Row, Table, decimal, shown, text

CAPTION: Final = (
    "Remedies, each against what it is compared with. Harm avoided: how much less harm revisions do on average, as a "
    "percentage of the way to high returns; gain lost: how much less they gain. Brackets hold "
    "95% intervals over runs. Corrected: p by Holm's method over all remedies. Worse: turns after which what is kept "
    "returns less; falsely kept: turns in which a revision is kept that returns less on average. Calls and tokens are "
    "of a turn; rollouts are those of a turn beyond a search without remedy. Best: no other is better in both harm "
    "and gain."
)


def paragraphs(remedies: Remedies) -> list[Paragraph]:
    """What the report states, with a warning where no language model answered."""
    caveat = _caveat(remedies)
    return [
        *([(caveat, [])] if caveat else []),
        *((line, []) for line in remedies.setting),
        ("Remedies:", remedies.findings),
    ]


def table_of(remedies: Remedies) -> Table:
    """A row for each remedy, the baselines first; the CSV file has all numbers, unrounded."""
    columns = (
        text("remedy", "Remedy"),
        Column("Acts on", lambda row: str(row["acts"]) if row["against"] else MISSING, "acts", numeric=False),
        Column("Against", lambda row: str(row["against"] or MISSING), "against", numeric=False),
        Column("Harm avoided", lambda row: _between(row, "harm_avoided", "low", "high"), "harm_avoided"),
        Column("Corrected", lambda row: shown(row["p_adjusted"], "{:.2g}"), "p_adjusted"),
        Column("Gain lost", lambda row: _between(row, "gain_lost", "gain_lost_low", "gain_lost_high"), "gain_lost"),
        Column("Worse", lambda row: shown(row["worse"], "{:.0%}"), "worse"),
        Column("Falsely kept", lambda row: shown(row["false_accepted"], "{:.0%}"), "false_accepted"),
        decimal("calls", "Calls", digits=1),
        Column("Tokens", lambda row: shown(row["tokens"], "{:,.0f}"), "tokens"),
        Column("Rollouts", lambda row: shown(row["rollouts"], "{:.0f}"), "rollouts"),
        Column("Verdict", lambda row: str(row["verdict"]) if row["against"] else MISSING, "verdict", numeric=False),
        Column("Best", lambda row: "yes" if row["best"] else "no", "best", numeric=False),
    )
    by = {"backend": remedies.backend, "model": remedies.model}
    note = f"Answers of {model_name(remedies.model, remedies.backend)}."
    caveat = _caveat(remedies)
    rows = [{**row, **by} for row in remedies.rows]
    return Table(STEM, TITLE, CAPTION, f"{note} {caveat}" if caveat else note, columns, rows)


def _caveat(remedies: Remedies) -> str | None:
    return simulated([(remedies.model, remedies.backend)])


def _between(row: Row, *keys: str) -> str:
    value, low, high = (shown(row[key], "{:z.1%}") for key in keys)
    return value if MISSING in {value, low, high} else f"{value} [{low}, {high}]"
