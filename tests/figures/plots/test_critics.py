"""Critics by their cards: a row each, sorted by gain, random edits open, verdicts on shares by shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

import figures
from audit.output.errors import UsageError
from figures.plots.critics import draw, read
from tests.figures.examined import CARDS, card, write_cards

EVERY = sorted(((each.name, each) for each in CARDS.values()), key=lambda each: -(each[1].number("gain").value or -9))


def marks(ax: Axes) -> list[tuple[str, float, float]]:
    """Shape, value and row of marks, with a plus where the mark is filled."""
    return [
        (
            line.get_marker() + ("" if line.get_markerfacecolor() == "white" else "+"),
            round(float(line.get_xdata()[0]), 6),
            round(float(line.get_ydata()[0]), 6),
        )
        for line in ax.lines
        if len(line.get_xdata()) == 1
    ]


def lines(ax: Axes) -> list[tuple[float, ...]]:
    return [tuple(round(float(x), 6) for x in line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def titles(axes: list[Axes]) -> list[str]:
    return [ax.get_title(loc="left").replace("\n", " ") for ax in axes]


def test_those_that_gain_most_come_first_and_unknown_ones_last(tmp_path: Path) -> None:
    cards = write_cards(tmp_path, "mute", "salient", "label", "gpt")
    assert [name for name, _ in read(cards)] == [
        "simulated-label",
        "gpt-oss:20b (ollama)",
        "simulated-salient",
        "mute (openai)",
    ]


def test_each_panel_has_a_number_of_each_critic_beside_a_random_edit() -> None:
    axes = draw(EVERY).figure.axes
    readable, gain, worse, near, names, *_ = axes
    assert titles(axes[:5]) == ["Readable", "Gain", "Made worse", "Near-optimal breaks", "Names the worst"]
    assert [tick.get_text() for tick in readable.get_yticklabels()] == [
        *("simulated-label\nfull", "gpt-oss:20b (ollama)\nfull", "simulated-salient\nquick", "mute (openai)\nquick")
    ]
    # A bar has no verdict: answers of the last have a problem.
    assert marks(readable) == [("s+", 90, 0), ("s+", 80, 1), ("s+", 97, 2), ("|+", 1, 3)]
    up, down = -0.17, 0.17
    assert marks(gain) == [
        *(("s+", 5, up), ("D", -20, down)),
        *(("s+", -2, 1 + up), ("D", -20, 1 + down)),
        *(("s+", -15, 2 + up), ("D", -20, 2 + down)),
    ]
    assert lines(gain)[:3] == [(0, 0), (-5, 15), (-30, -10)]
    assert [x for shape, x, _ in marks(worse) if shape == "s+"] == [40, 50, 60]
    assert [x for shape, x, _ in marks(near) if shape == "s+"] == [30, 20]
    assert marks(names) == [("s+", 10, 0), ("s+", 40, 1), ("s+", 80, 2)]
    assert lines(names)[0] == pytest.approx((100 / 3, 100 / 3), abs=1e-5)
    assert [words(ax) for ax in (readable, gain, near)] == [[], ["– unknown"], ["– unknown", "– unknown"]]


def test_shares_that_move_any_critic_have_verdicts_by_shape() -> None:
    drawing = draw(EVERY)
    axes = drawing.figure.axes[5:]
    assert titles(axes) == ["Follows worst content", "Follows called worst", "Moved by wording"]
    assert [tick.get_text() for tick in axes[0].get_yticklabels()] == [
        "simulated-label\nfull",
        "gpt-oss:20b (ollama)\nfull",
    ]
    assert [marks(ax) for ax in axes] == [
        [("X+", 5, 0), ("o+", 50, 1)],
        [("o+", 70, 0), ("^+", 10, 1)],
        [("o+", 40, 0)],
    ]
    assert words(axes[2]) == ["– not asked"]
    bands = [band.get_datalim(axes[0].transData).intervalx.tolist() for band in axes[0].collections]
    assert bands == [[-25, 25], [-25, 25]]
    assert list(axes[2].collections) == []
    [legend] = drawing.figure.legends
    assert [each.get_text() for each in legend.get_texts()] == [
        *("critic", "random edit", "doing nothing", "naming at random"),
        *("moves it", "does not move it", "cannot be told", "described"),
    ]


def test_the_picture_says_who_answered_and_what_has_no_verdict() -> None:
    drawing = draw(EVERY)
    assert drawing.note.startswith(
        "mute (openai), no verdict: most answers cannot be read. Prompts of suite-1: 4,800 answers."
    )
    assert "Model gpt-oss:20b (ollama)." in drawing.note
    assert "Simulated model, personality label: a simulated stand-in, not a language model." in drawing.note
    texts = [text for text in drawing.figure.findobj(Text) if text.get_text()]
    assert drawing.note in " ".join(text.get_text() for text in texts).replace("\n", " ")
    assert min(text.get_fontsize() for text in texts) >= 7


def test_one_critic_alone_is_drawn_too() -> None:
    [drawing, full] = [draw([(CARDS[name].name, CARDS[name])]) for name in ("salient", "label")]
    assert [len(each.figure.axes) for each in (drawing, full)] == [5, 7]
    assert "Lower panels" not in drawing.caption
    assert "Lower panels" in full.caption


def test_of_full_cards_that_nothing_moves_the_note_says_so() -> None:
    moved = [each for each in CARDS["label"].moves or () if each.verdict != "moves it"]
    drawing = draw([("simulated-calm", card("simulated-calm", 0.9, 0.1, 0.2, 0.1, 0.3, moves=moved))])
    assert drawing.note.startswith("No share moves a critic that was asked.")
    assert len(drawing.figure.axes) == 5


def test_critics_of_one_model_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    first, second = write_cards(tmp_path, "salient", "gpt")
    (second / "card.json").write_bytes((first / "card.json").read_bytes())
    axes = figures.plot_critics([first, second])
    assert [tick.get_text() for tick in axes[0].get_yticklabels()] == [
        *("simulated-salient\nsalient, quick", "simulated-salient\ngpt, quick")
    ]


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    with pytest.raises(figures.FiguresError, match=r"^give the card of a critic"):
        figures.plot_critics([])
    [path] = write_cards(tmp_path, "salient")
    with pytest.raises(UsageError, match="is given twice"):
        figures.plot_critics([path, path])
