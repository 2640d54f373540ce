"""What moves a reflector: which example its new texts follow, and what else changes them.

Each answer of arm `C` is taken for a draw from a mixture of the unit's texts written for each example alone (`S`). The
weight of an example is what all examples have, and what being first or last, having the lowest printed score, the
longest feedback or a heading that says so, and its true score add; each such share is the part of the answers that
follow the example with the attribute because of it (`audit.measures.following`). Texts are compared by the words that
they add and take away.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit.interventions.effects.judging import away_p, moves, unmoved
from audit.interventions.effects.results import AWAY, CANNOT_TELL, LEAST_SIGNAL, NOT_ASKED
from audit.interventions.texts.arms import ALONE, CONJOINT, PADDING, Material
from audit.interventions.texts.plan import TextPlan
from audit.interventions.texts.running import PlaceLine, TextAnswer
from audit.measures.conditional_randomisation import conditional_randomisation_test
from audit.measures.following import Estimates, Normal, estimate, normal_equations, products, ratio_estimates
from audit.measures.holm import holm

Floats = NDArray[np.float64]

FIRST, LAST, LOWEST_PRINTED, LONGEST, CALLED_WORSE = (
    *("shown first", "shown last", "lowest printed score", "longest feedback", "called worse"),
)
LOWEST, HIGHEST, ANY = "lowest score", "highest score", "any example"
DRAWN: Final = (FIRST, LAST, LOWEST_PRINTED, LONGEST, CALLED_WORSE)
"""Attributes that are drawn for every call, so that their effects are causes."""
SCORED: Final = (LOWEST, HIGHEST)
"""Attributes of the recorded examples, whose shares describe."""
SHARES: Final = (*DRAWN, *SCORED, ANY)
LARGER: Final = 0.25
"""The smallest share of interest of what is not drawn, which is known less well."""
LEAST: Final = 2
"""Answers for each example alone that a unit needs."""
_WORD: Final = re.compile(r"\d+(?:\.\d+)?|[^\W_]+(?:['’][^\W_]+)?")
_LEAST_NOISE: Final = 1e-3


def words_of(text: str) -> Counter[str]:
    """The words of a text, and its pairs of neighbours, in lower case; those of lengthened feedback left out."""
    words = _WORD.findall(text.lower())
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    found = Counter([*words, *pairs])
    for name in [name for name in found if name in PADDING or all(word in PADDING for word in name.split())]:
        del found[name]
    return found


def edits_of(texts: Sequence[tuple[str, str]]) -> Floats:
    """What texts add to another and take from it: shape (texts, words and pairs), rows of length 1 or 0.

    A word counts by how few of the texts change it (inverse document frequency), so that what every answer writes does
    not hide what they differ in. A text that changes nothing is zeros.

    Args:
        texts: of each what is revised, and what is proposed in its place.
    """
    changes = []
    for current, text in texts:
        before, after = words_of(current), words_of(text)
        changes.append({name: after[name] - before[name] for name in after.keys() | before.keys()})
    changed = [{name: change for name, change in each.items() if change} for each in changes]
    among = Counter(name for each in changed for name in each)
    columns = {name: place for place, name in enumerate(sorted(among))}
    rows = np.zeros((len(texts), max(1, len(columns))))
    for row, each in zip(rows, changed, strict=True):
        for name, change in each.items():
            row[columns[name]] = np.sign(change) * math.log((1 + len(texts)) / among[name])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))


@dataclass(frozen=True)
class UnitTexts:
    """A unit's answers.

    Attributes:
        unit: index in the plan.
        answers: those whose text could be read, by arm.
        edits: of each answer, by its place in `answers`; shape (answers, coordinates).
    """

    unit: int
    answers: Sequence[TextAnswer]
    edits: Floats

    def rows(self, *arms: str) -> list[int]:
        """Places of the answers under some arms."""
        return [place for place, answer in enumerate(self.answers) if answer.arm in arms]

    def references(self, examples: int) -> list[Floats] | None:
        """Edits made for each example alone; None where there are too few."""
        found = [
            [place for place in self.rows(ALONE) if self.answers[place].shown[0].example == each]
            for each in range(examples)
        ]
        return [self.edits[each] for each in found] if min(map(len, found)) >= LEAST else None


def read_units(plan: TextPlan, answers: Sequence[tuple[int, TextAnswer]], *, count: bool = False) -> list[UnitTexts]:
    """The answers of each unit, with their edits; those that propose no text are left out.

    Args:
        plan: the plan.
        answers: all, with the index of their unit.
        count: take answers without a text for ones that change nothing, but for those under `C`.
    """
    by_unit: dict[int, list[TextAnswer]] = defaultdict(list)
    for unit, answer in answers:
        by_unit[unit].append(answer)
    found = []
    for unit, each in sorted(by_unit.items()):
        stated = plan.units[unit]
        read = []
        for answer in each:
            before = "" if stated.template.adds(answer.completion) else stated.current
            text = proposal(plan, unit, answer)
            if text is not None or (count and answer.arm != CONJOINT):
                read.append((answer, (before, before if text is None else text)))
        edits = edits_of([texts for _, texts in read])
        found.append(UnitTexts(unit, [answer for answer, _ in read], edits))
    return found


def proposal(plan: TextPlan, unit: int, answer: TextAnswer) -> str | None:
    """The text that an answer proposes; None where it proposes none."""
    return None if answer.error is not None else plan.units[unit].template.proposal(answer.completion)


class Share(NamedTuple):
    """A share of answers that follow an example because of an attribute; numbers are NaN where they are not known."""

    name: str
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: str | None = None


@dataclass(frozen=True)
class Followed:
    """The shares of an experiment.

    Attributes:
        shares: in the order of `SHARES`.
        signal: variance between edits for different examples over that within.
        signal_low: lower end of its interval over runs; NaN where it has none.
        signal_high: the upper end.
        spread: that between them, a unit's mean.
        units: that count.
        runs: theirs.
        unreadable: share of the answers in `C` that propose no text.
    """

    shares: Sequence[Share]
    signal: float
    signal_low: float
    signal_high: float
    spread: float
    units: int
    runs: int
    unreadable: float

    @property
    def is_blind(self) -> bool:
        """Whether texts for different examples can hardly be told apart, as far as the interval tells."""
        return self.signal < LEAST_SIGNAL and not self.signal_low > 0


def followed(plan: TextPlan, materials: Sequence[Material], units: Sequence[UnitTexts], unreadable: float) -> Followed:
    """Estimate and judge the shares.

    Args:
        plan: the plan.
        materials: of its units.
        units: their answers.
        unreadable: share of the answers in `C` that propose no text.
    """
    terms, clusters, scores = [], [], list[Floats]()
    held: dict[str, list[tuple[int, int]]] = defaultdict(list)
    between, within = list[float](), list[float]()
    for each in units:
        examples = len(plan.units[each.unit].scores)
        references, rows = each.references(examples), each.rows(CONJOINT)
        if references is None or not rows:
            continue
        moments = products(references)
        between.append(float((np.trace(moments) - moments.sum() / examples) / (examples - 1)))
        within.append(float(np.mean([edits.var(axis=0, ddof=1).sum() for edits in references])))
        weights = np.array([_weights(each.answers[row].shown, materials[each.unit]) for row in rows])
        terms.append(normal_equations(each.edits[rows], weights, references))
        clusters.append(plan.units[each.unit].cluster)
        means = np.array([reference.mean(axis=0) for reference in references])
        towards = each.edits[rows] @ (means - means.mean(axis=0)).T
        for row, own in zip(rows, towards, strict=True):
            shown = each.answers[row].shown
            for name, place in holders(shown, materials[each.unit]).items():
                held[name].append((len(scores), place))
            scores.append(own[[place.example for place in shown]])
    if not terms:
        return Followed([], math.nan, math.nan, math.nan, math.nan, 0, 0, unreadable)
    numbers = {run: place for place, run in enumerate(dict.fromkeys(clusters))}
    places = np.array([numbers[run] for run in clusters]) if len(numbers) > 1 else np.arange(len(terms))
    normal = Normal(np.array([matrix for matrix, _ in terms]), np.array([right for _, right in terms]))
    known = [place for place in range(len(SHARES)) if normal.matrix[:, place, place].sum() > 0]
    reduced = Normal(normal.matrix[:, known][:, :, known], normal.right[:, known])
    found = estimate(reduced, places, np.eye(len(known)))
    ratios = ratio_estimates(np.array(between), np.maximum(within, _LEAST_NOISE), places)
    signal, (low, high) = float(ratios.values[0]), (float(ends[0]) for ends in ratios.interval())
    made = Followed([], signal, low, high, float(np.mean(between)), len(terms), len(numbers), unreadable)
    tests = {name: _p(plan, scores, held[name], name) for name in held}
    return replace(made, shares=_judged(plan, known, found, tests, made))


def holders(shown: Sequence[PlaceLine], material: Material) -> dict[str, int]:
    """The place of the example that has each drawn attribute."""
    found = {FIRST: 0}
    if len(shown) > 2:
        found[LAST] = len(shown) - 1
    if material.can_exchange_scores:
        lowest = [place for place, each in enumerate(shown) if each.number in material.lowest]
        found[LOWEST_PRINTED] = lowest[0]
    if any(each.longest for each in shown):
        found[LONGEST] = next(place for place, each in enumerate(shown) if each.longest)
    if material.prompt.dialect.named:
        worse = material.prompt.names[material.lowest[0]]
        found[CALLED_WORSE] = next(place for place, each in enumerate(shown) if each.name == worse)
    return found


def _weights(shown: Sequence[PlaceLine], material: Material) -> Floats:
    """By how much each share raises the weight of each example: shape (shares, examples)."""
    examples = len(material.scores)
    rows = np.zeros((len(SHARES), examples))
    for name, place in holders(shown, material).items():
        rows[SHARES.index(name)] = -1 / examples
        rows[SHARES.index(name), shown[place].example] += 1
    for name, having in ((LOWEST, material.lowest), (HIGHEST, material.highest)):
        if len(having) < examples:
            rows[SHARES.index(name)] = -1 / examples
            rows[SHARES.index(name), having] += 1 / len(having)
    rows[SHARES.index(ANY)] = 1 / examples
    return rows


def _p(plan: TextPlan, scores: Sequence[Floats], held: Sequence[tuple[int, int]], name: str) -> float:
    """Of the hypothesis that answers do not depend on which example has an attribute: it is drawn anew."""
    rows = [row for row, _ in held]
    widest = max(len(scores[row]) for row in rows)
    table, able = np.zeros((len(rows), widest)), np.zeros((len(rows), widest), dtype=bool)
    for line, row in enumerate(rows):
        table[line, : len(scores[row])], able[line, : len(scores[row])] = scores[row], True
    return conditional_randomisation_test(
        table,
        [place for _, place in held],
        eligible=able,
        alternative="greater",
        redraws=plan.permutations,
        seed=plan.seed + SHARES.index(name),
    ).p


def _judged(
    plan: TextPlan, known: Sequence[int], found: Estimates, tests: Mapping[str, float], whole: Followed
) -> list[Share]:
    """Verdicts, corrected together; at worst all answers without a text followed an example."""
    own = found.p()
    read = 1 - whole.unreadable

    def ends(place: int, level: float) -> tuple[float, float]:
        low, high = (float(each[place]) for each in found.interval(level))
        return read * low - whole.unreadable / 2, read * high + whole.unreadable

    rows = []
    for place, index in enumerate(known):
        name = SHARES[index]
        p = math.nan if name == ANY else tests.get(name, float(own[place]))
        rows.append(Share(name, float(found.values[place]), *ends(place, 1 - plan.alpha), p))
    adjusted = holm([row.p for row in rows])
    tested = sum(not math.isnan(row.p) for row in rows)
    judged = []
    for place, (row, p) in enumerate(zip(rows, adjusted, strict=True)):
        margin = plan.smallest if row.name in DRAWN else max(plan.smallest, LARGER)
        verdict: str | None = None
        away = float(away_p(own[place], tested))
        if row.name != ANY:
            verdict = CANNOT_TELL if whole.is_blind else moves(float(p), away, (row.low, row.high), plan.alpha)
        if verdict == CANNOT_TELL and not whole.is_blind:
            verdict = unmoved((row.low, row.high), ends(place, 1 - 2 * plan.alpha), margin)
        if verdict == AWAY:
            row, p = row._replace(p=float(away_p(own[place], 1))), away  # noqa: PLW2901
        judged.append(row._replace(p_adjusted=float(p), verdict=verdict))
    missing = [Share(name, verdict=NOT_ASKED) for name in DRAWN if SHARES.index(name) not in known]
    return [*judged, *missing]
