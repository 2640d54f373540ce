"""Printed Welch tests, checked against printed summaries and against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from stats.published.intervals import EVERYTHING, PROBABILITY, Interval
from stats.published.mistakes import Samples, explanations
from stats.published.printed import Printed
from stats.published.results import Result, Status, judge
from stats.published.welch_bounds import df_bounds, holm_bounds, p_bounds, t_bounds

ALPHA: Final = Decimal("0.05")
QUANTITIES: Final = ("gap", "welch_t", "df", "raw_p", "holm_p")


@dataclass(frozen=True, slots=True)
class PrintedTest:
    """A printed test of a reference method against another.

    `samples` are the two as their printed summaries allow them to be, `face` the two if those were exact; both are
    None where the summaries are not printed. `printed` has some of `QUANTITIES`.
    """

    item: str
    family: str
    samples: Samples | None
    face: Samples | None
    printed: Mapping[str, Printed]


@dataclass(frozen=True, slots=True)
class Found:
    """What a test's quantities can be; anything, where nothing is printed."""

    gap: Interval = EVERYTHING
    welch_t: Interval = EVERYTHING
    df: Interval = EVERYTHING
    raw_p: Interval = PROBABILITY
    holm_p: Interval = PROBABILITY


def check_tests(table: str, tests: Sequence[PrintedTest], alpha: Decimal = ALPHA) -> Iterator[Result]:
    """The verdict on every printed quantity of some tests, family by family corrected after Holm."""
    found = recompute(tests)
    # The corrected p is left open at face value.
    face = [None if test.face is None else _from_samples(test.face) for test in tests]
    for test, bounds, exact in zip(tests, found, face, strict=True):
        for quantity in QUANTITIES:
            if quantity in test.printed:
                yield _result(table, test, quantity, bounds, exact, alpha)


def recompute(tests: Sequence[PrintedTest]) -> list[Found]:
    """What the quantities of all tests can be.

    t, its degrees of freedom and the difference follow from the summaries; p from these two and from the printed t and
    df, where they are possible; the corrected p from all p of the family and from the printed ones, where they are
    possible. So a number is checked against all that is printed before it.
    """
    found = [_without_holm(test) for test in tests]
    usable = [_narrowed(each.raw_p, test.printed.get("raw_p")) for each, test in zip(found, tests, strict=True)]
    families: dict[str, list[int]] = {}
    for place, test in enumerate(tests):
        families.setdefault(test.family, []).append(place)
    for members in families.values():
        for place, bounds in zip(members, holm_bounds([usable[member] for member in members]), strict=True):
            found[place] = replace(found[place], holm_p=bounds)
    return found


def _from_samples(samples: Samples) -> Found:
    a, b = samples
    if min(a.n, b.n) < 2:
        return Found(a.mean - b.mean)
    t, df = t_bounds(a, b), df_bounds(a, b)
    return Found(a.mean - b.mean, t, df, p_bounds(t, df))


def _without_holm(test: PrintedTest) -> Found:
    found = Found() if test.samples is None else _from_samples(test.samples)
    t, df = (_narrowed(getattr(found, name), test.printed.get(name)) for name in ("welch_t", "df"))
    return replace(found, raw_p=p_bounds(t, df)) if df.low > 0 else found


def _narrowed(found: Interval, published: Printed | None) -> Interval:
    """What is possible both by recomputing and by what is printed; the former, where they contradict."""
    if published is None or not published.interval.meets(found):
        return found
    return published.interval & found


def _result(table: str, test: PrintedTest, quantity: str, found: Found, face: Found | None, alpha: Decimal) -> Result:
    published, bounds = test.printed[quantity], getattr(found, quantity)
    exact = getattr(face, quantity) if face is not None and quantity != "holm_p" else None
    silence = _undecided(test, quantity, bounds, alpha)
    status = judge(published, bounds, face=exact, decides=silence is None)
    note = silence
    if status is Status.inconsistent:
        note = _why(test, quantity, published, bounds)
    elif status is Status.consistent and silence is not None:
        note = f"as printed, though {silence}"
    elif status is Status.undecidable and silence is None:
        note = "it may be on either side of the printed bound"
    return Result(table, test.item, quantity, status, published.text, bounds, note)


def _undecided(test: PrintedTest, quantity: str, bounds: Interval, alpha: Decimal) -> str | None:
    """Why an interval is too wide to decide anything, or None where it is not."""
    if quantity == "welch_t" and bounds == EVERYTHING and test.samples is not None and _have_variance(test.samples):
        return "with standard deviations that may be 0 any t is possible"
    if bounds in (EVERYTHING, PROBABILITY):
        return "nothing that is printed says what it is"
    if quantity in ("raw_p", "holm_p") and bounds.low <= alpha < bounds.high:
        return f"the rounding leaves open on which side of {alpha} it is"
    return None


def _have_variance(samples: Samples) -> bool:
    return min(samples[0].n, samples[1].n) >= 2


def _why(test: PrintedTest, quantity: str, published: Printed, bounds: Interval) -> str:
    if quantity in ("gap", "welch_t") and (-published.interval).meets(bounds):
        return "has the other sign: it is that of baseline minus reference"
    sources = {
        "gap": "the printed means",
        "welch_t": "the printed means and standard deviations",
        "df": "the printed standard deviations",
        "raw_p": "t and its degrees of freedom",
        "holm_p": f"the raw p-values of family {test.family}" if test.family else "the raw p-values",
    }
    mistakes = explanations(quantity, test.printed, test.samples, bounds)
    hint = f"; {' or '.join(mistakes)} could" if mistakes else ""
    return f"not what {sources[quantity]} give, however they were rounded{hint}"
