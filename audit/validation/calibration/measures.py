"""What is compared with the truth: detectors that read answers, and judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from audit.validation.calibration.truth import WORST, Known
from audit.validation.coding.codes import NO, YES
from audit.validation.coding.found import Finding, Found
from audit.validation.coding.scores import Comparison, Pair
from audit.vocabulary.drivers import DRIVERS
from audit.vocabulary.keys import RevisionKey

DRIVEN: Final = "driven_by_worst"
NAMES: Final = "names_worst"
DISCOUNTS: Final = "discounts_worst"
DRIVER: Final = "driver"


def compared(found: Sequence[Found], known: Mapping[RevisionKey, Known]) -> Iterator[Comparison]:
    """Compare what detectors find with what is true, by condition and personality.

    A detector of mentions is compared twice: with what the answer names, which it is made for, and with what drove the
    change, which it is used for.

    Args:
        found: what detectors find in revisions.
        known: what is true of them.
    """
    for condition, personality in sorted({(identity.condition, each.personality) for identity, each in known.items()}):
        mine = {
            identity: each
            for identity, each in sorted(known.items())
            if (identity.condition, each.personality) == (condition, personality)
        }
        for quantity, detector, findings in _findings(found):
            pairs = [
                Pair(identity, _true(each, quantity), findings[identity])
                for identity, each in mine.items()
                if identity in findings
            ]
            if pairs:
                codes = DRIVERS if quantity == DRIVER else (YES, NO)
                yield Comparison(condition, personality, quantity, detector, pairs, codes)


def _findings(found: Sequence[Found]) -> Iterator[tuple[str, str, Mapping[RevisionKey, Finding]]]:
    """Each quantity with the detectors that may be taken for it."""
    for each in found:
        if each.column == "mentions_worst":
            yield NAMES, each.detector, each.findings
            yield DRIVEN, each.detector, each.findings
        elif each.column == DRIVER:
            yield DRIVER, each.detector, each.findings
            # A judge's mentions and its driver are two answers to one question.
            yield (
                DRIVEN,
                f"{each.detector}, driver",
                {key: _yes(value.code == WORST) for key, value in each.findings.items()},
            )
        elif each.column == DISCOUNTS:
            yield each.column, each.detector, each.findings


def _true(known: Known, quantity: str) -> str:
    return known.driver if quantity == DRIVER else _yes(getattr(known, quantity)).code


def _yes(value: bool) -> Finding:
    return Finding(YES if value else NO)
