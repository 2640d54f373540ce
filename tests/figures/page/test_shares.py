"""Shares in the table of effects: percentages, with their own verdicts."""

from __future__ import annotations

from dataclasses import replace

from figures.data import Records
from figures.page.causes import effects_table
from tests.figures.experiment import effect


def test_shares_are_percentages_and_other_effects_are_not(records: Records) -> None:
    rows = [
        effect("called worst", "share", "C", None, 0.352, 0.2, 0.504, verdict="moves it"),
        effect("wording", "share", "C", None, verdict="not asked"),
        effect("label", "edits", "XL", "N0h", 0.4, 0.2, 0.6),
    ]
    table = effects_table(replace(records, effects=rows))
    cells = {column.heading: [column.read(row) for row in rows] for column in table.columns}
    assert cells["Effect"] == ["35% [20%, 50%]", "–", "0.4 [0.2, 0.6]"]
    assert cells["Verdict"][:2] == ["moves it", "not asked"]
