"""What a printed test may be that is not Welch's two-sided one of the printed summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from stats.published.intervals import EVERYTHING, PROBABILITY, Interval, point
from stats.published.printed import Printed
from stats.published.welch_bounds import Sample, df_bounds, p_bounds, ratio_bounds, t_bounds

Samples = tuple[Sample, Sample]

_HALF: Final = Decimal("0.5")


def explanations(quantity: str, printed: Mapping[str, Printed], samples: Samples | None, found: Interval) -> list[str]:
    """Mistakes that would explain a number which does not follow from the others; several may.

    Args:
        quantity: one of `stats.published.significance.QUANTITIES`.
        printed: it and the others, as printed.
        samples: the two methods' summaries, where they are printed.
        found: what the quantity can be if nothing was mistaken.
    """
    number, likely = printed[quantity].interval, []
    if quantity == "raw_p":
        half = found * point(_HALF)
        # In the direction of the difference, or against it.
        if number.meets(half) or number.meets(point(1) - half):
            likely.append("a one-sided test")
    if quantity == "holm_p" and number.low > found.high:
        likely.append("a family of more tests than are here")
    if samples is None or min(sample.n for sample in samples) < 2:
        return likely
    for words, tests in (
        ("Student's test, which takes variances to be equal", [_students(*samples)]),
        ("a mix-up of standard errors and deviations", [_welch(*pair) for pair in _rescaled(*samples)]),
    ):
        if any(_gives(t, df, quantity, printed) for t, df in tests):
            likely.append(words)
    return likely


def _gives(t: Interval, df: Interval, quantity: str, printed: Mapping[str, Printed]) -> bool:
    """Whether a test with such a t and such degrees of freedom prints so; one that leaves everything open does not."""
    if "welch_t" in printed:
        if not printed["welch_t"].interval.meets(t):
            return False
        t = printed["welch_t"].interval & t
    gives = {"welch_t": t, "df": df, "raw_p": p_bounds(t, df)}.get(quantity)
    return gives not in (None, EVERYTHING, PROBABILITY) and printed[quantity].interval.meets(gives)


def _students(a: Sample, b: Sample) -> tuple[Interval, Interval]:
    """T = (mean_a - mean_b) / (s sqrt(1 / n_a + 1 / n_b)), with s^2 the pooled variance, and n_a + n_b - 2."""
    df = point(a.n + b.n - 2)
    pooled = (a.std.square() * point(a.n - 1) + b.std.square() * point(b.n - 1)) / df
    return ratio_bounds(a.mean - b.mean, (pooled / point(a.n) + pooled / point(b.n)).root()), df


def _welch(a: Sample, b: Sample) -> tuple[Interval, Interval]:
    """Welch's t and its degrees of freedom."""
    return t_bounds(a, b), df_bounds(a, b)


def _rescaled(a: Sample, b: Sample) -> Iterator[Samples]:
    """The samples with either measure of spread taken for the other."""
    roots = [point(each.n).root() for each in (a, b)]
    for scales in (roots, [point(1) / root for root in roots]):
        first, second = (replace(each, std=each.std * scale) for each, scale in zip((a, b), scales, strict=True))
        yield first, second
