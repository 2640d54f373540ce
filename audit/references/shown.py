"""What a critic was shown, as far as a record states it, and what a label, an index or a number refers to in it."""

from __future__ import annotations

import functools
import math
import statistics as summary
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

from msgspec import UNSET

from audit.references.mention import LABELS, UNRESOLVED, Label, Target
from audit.references.quantities import Quantity
from audit.vocabulary.evidence import ShownRollout
from collector.records import ItemLabel


@dataclass(frozen=True)
class Shown:
    """The evidence that an answer is read against.

    Attributes:
        rollouts: those shown, or the items of a batch or a pair. Two rollouts with one index are one; so are, where
            indices are unknown, two with the same return and length, since the evidence is chosen by return.
        returns: of all K rollouts, where known. They give the worst, median and best rollout a name even where a
            critic was shown others, for a text may speak of a rollout that only the statistics hint at.
        lengths: steps of all K rollouts, where known.
        smallest: smallest return in the statistics that the critic was shown, where there were any.
        largest: largest return there.
        rounding: returns that differ by no more are equal, as `audit.measures.rounding` has it of the revision.
    """

    rollouts: tuple[ShownRollout, ...] = ()
    returns: tuple[float, ...] | None = None
    lengths: tuple[int, ...] | None = None
    smallest: float | None = None
    largest: float | None = None
    rounding: float = 0.0

    @classmethod
    def of(
        cls,
        rollouts: Sequence[Mapping[str, Any]] | None,
        *,
        returns: Sequence[float] | None = None,
        lengths: Sequence[int] | None = None,
        statistics: Mapping[str, Any] | None = None,
        rounding: float = 0.0,
    ) -> Self:
        """From the fields of a record: `evidence.shown`, the candidate's returns and lengths, `evidence.statistics`.

        Args:
            rollouts: those shown.
            returns: of all K.
            lengths: of all K.
            statistics: of the returns.
            rounding: returns that differ by no more are equal: the column `rounding` of the relation `episodes`.
        """
        extremes = (statistics or {}).get("returns") or {}
        return cls(
            tuple(
                ShownRollout(
                    item["label"],
                    item.get("rollout"),
                    item.get("return"),
                    item.get("length"),
                    item.get("name") or UNSET,
                    item.get("text") or UNSET,
                )
                for item in (() if rollouts is None else rollouts)
            ),
            None if returns is None else tuple(returns),
            None if lengths is None else tuple(lengths),
            extremes.get("min"),
            extremes.get("max"),
            rounding,
        )

    def labelled(self, label: Label) -> Target:
        """The rollout with a role. Naming a role is enough: nothing need be known of the rollouts."""
        return self._roles.get(label, Target((label,)))

    def by_role(self, role: str) -> Target:
        """The items with a role among those shown; unresolved where none stands out."""
        return self._roles.get(role, UNRESOLVED)

    def headed(self, name: str) -> Target:
        """The rollout whose heading ends so, "B" of "Rollout B"; without headings letters count those displayed."""
        if self.has_headings:
            return self._headings.get(name, UNRESOLVED)
        return self.placed(ord(name) - ord("A")) if len(self.rollouts) > 1 else UNRESOLVED

    def placed(self, place: int) -> Target:
        """The rollout at a place in the order of display, from 0, or from -1 at the end; else unresolved."""
        if len(self.rollouts) < 2 or not -len(self.rollouts) <= place < len(self.rollouts):
            return UNRESOLVED
        return self.targets[place]

    @functools.cached_property
    def are_items(self) -> bool:
        """Whether items of a batch, or a pair under headings of its own, were shown, rather than rollouts by role."""
        labels = {rollout.label for rollout in self.rollouts}
        is_pair = labels == {"worst", "best"} and all(each.name and each.rollout is None for each in self.rollouts)
        return "item" in labels or is_pair

    @functools.cached_property
    def targets(self) -> tuple[Target, ...]:
        """What a mention of each rollout or item shown points at, in the order of display."""
        if not self.are_items:
            return tuple(self.labelled(cast("Label", rollout.label)) for rollout in self.rollouts)
        return tuple(item.target for item in self._items)

    def label_of(self, name: str) -> ItemLabel | None:
        """The label of the rollout whose heading ends so; None where no heading does."""
        return next((each.label for each in self.rollouts if each.name and each.name.split()[-1:] == [name]), None)

    @functools.cached_property
    def has_headings(self) -> bool:
        """Whether rollouts were shown under headings other than their labels."""
        return bool(self._headings)

    def numbered(self, index: int) -> Target:
        """The rollout with an index, or with this number as heading; unresolved unless shown or known to exist."""
        if headed := self._headings.get(str(index)):
            return headed
        for item in self._items:
            if item.rollout == index:
                return item.target
        if self.returns is not None and index < len(self.returns):
            return Target((), (index,))
        return UNRESOLVED

    def returned(self, number: Quantity) -> Target:
        """The rollouts whose return is the number printed; those shown take precedence."""
        return self._nearest(number, lambda item: item.return_, self.returns)

    def lasted(self, number: Quantity) -> Target:
        """The rollouts whose length is the number printed; those shown take precedence."""
        return self._nearest(number, lambda item: item.length, self.lengths)

    def extreme_length(self, *, longest: bool) -> Target:
        """The longest or the shortest of the rollouts shown."""
        known = [item for item in self._items if item.was_shown and item.length is not None]
        if not known:
            return UNRESOLVED
        extreme = (max if longest else min)(item.length for item in known if item.length is not None)
        return _union([item for item in known if item.length == extreme])

    @functools.cached_property
    def single(self) -> Target | None:
        """The one rollout that was shown, under however many labels; None where several were."""
        shown = [item for item in self._items if item.was_shown]
        return shown[0].target if len(shown) == 1 else None

    @functools.cached_property
    def failing(self) -> Target:
        """What "the failing run" means: the worst rollout, or the only one shown unless it did as well as the best."""
        return self._only_one_shown("best") or self.labelled("worst")

    @functools.cached_property
    def successful(self) -> Target:
        """What "the successful run" means: the best rollout."""
        return self.labelled("best")

    @functools.cached_property
    def typical(self) -> Target:
        """What "a typical run" means: the rollout shown as representative, else the median one."""
        return self.labelled("representative" if "representative" in self._roles else "median")

    def _same(self, one: float | None, other: float | None) -> bool:
        return one == other if one is None or other is None else abs(one - other) <= self.rounding

    def _only_one_shown(self, unless: Label) -> Target | None:
        if self.single is None or len(self.rollouts) != 1:
            return None
        return None if unless in self.single.labels else self.single

    def _nearest(
        self, number: Quantity, measure: Callable[[_Item], float | None], everywhere: Sequence[float] | None
    ) -> Target:
        for group in ([item for item in self._items if item.was_shown], self._items):
            if near := _closest(number, [(measure(item), item.target) for item in group]):
                return near
        return _closest(number, [(value, Target((), (index,))) for index, value in enumerate(everywhere or ())])

    @functools.cached_property
    def _headings(self) -> dict[str, Target]:
        """The rollouts by the last word of the headings that they were shown under."""
        named = zip((rollout.name for rollout in self.rollouts), self.targets, strict=True)
        return {name.split()[-1]: target for name, target in named if name and name.strip()}

    @functools.cached_property
    def _roles(self) -> dict[str, Target]:
        roles: dict[str, Target] = {}
        for item in self._items:
            for label in item.target.labels:
                roles[label] = roles.get(label, UNRESOLVED) | item.target
        return roles

    @functools.cached_property
    def _items(self) -> list[_Item]:
        """The distinct rollouts with a role: those shown, then those known only from returns or statistics."""
        if self.are_items:
            return self._scored
        items: dict[Any, _Item] = {}
        for rollout in self.rollouts:
            index = self._index_of(rollout)
            key: Any = index if index is not None else (rollout.return_, rollout.length)
            if key == (None, None):
                key = rollout.label
            items.setdefault(key, _Item(index, rollout.return_, rollout.length)).roles.add(rollout.label)
        named = {rollout.label for rollout in self.rollouts}
        lengths = self.lengths or ()
        for label, index, value in self._unshown(named):
            key = index
            if key is None:
                alike = [known for known, item in items.items() if item.return_ == value]
                key = alike[0] if alike else (value, None)
            # Of several rollouts shown each was given its roles; that one has another as well nobody could see.
            if len(named) > 1 and key in items and items[key].was_shown:
                continue
            length = lengths[index] if index is not None and index < len(lengths) else None
            items.setdefault(key, _Item(index, value, length, was_shown=False)).roles.add(label)
        return list(items.values())

    @functools.cached_property
    def _scored(self) -> list[_Item]:
        """The items of a batch or a pair: worst, median and best by their scores, all of those with equal scores."""
        items = [_Item(each.rollout, each.return_, each.length) for each in self.rollouts]
        known = [each.return_ for each in self.rollouts if each.return_ is not None]
        scores = known if len(known) == len(items) else [0.0] * len(items)
        lowest, highest = min(scores), max(scores)
        for place, (item, each, score) in enumerate(zip(items, self.rollouts, scores, strict=True), start=1):
            item.roles.add((each.name or f"item {place}").lower() if each.label == "item" else each.label)
            if highest - lowest > self.rounding:
                item.roles |= {"worst"} if score - lowest <= self.rounding else set()
                item.roles |= {"best"} if highest - score <= self.rounding else set()
                # Two have no median, and of an even number none need have the sample median.
                if len(items) > 2 and self._same(score, summary.median(scores)):
                    item.roles.add("median")
        return items

    def _index_of(self, rollout: ShownRollout) -> int | None:
        """Its index; one that the log left out follows from all K returns where its label implies how it was chosen."""
        if rollout.rollout is not None or not self.returns or rollout.label not in _CHOICES:
            return rollout.rollout
        index = _CHOICES[rollout.label](self.returns)
        agrees = rollout.return_ is None or math.isclose(self.returns[index], rollout.return_, abs_tol=5e-5)
        return index if agrees else None

    def _unshown(self, named: Collection[str]) -> list[tuple[str, int | None, float]]:
        """Worst, median and best where they were not shown: label, index where known, and return."""
        if self.returns:
            chosen = {label: choose(self.returns) for label, choose in _CHOICES.items() if label not in named}
            return [(label, index, self.returns[index]) for label, index in chosen.items()]
        extremes = (("worst", self.smallest), ("best", self.largest))
        return [(label, None, value) for label, value in extremes if label not in named and value is not None]


class _Item:
    """A rollout and the roles it has."""

    def __init__(
        self, rollout: int | None, return_: float | None, length: int | None, *, was_shown: bool = True
    ) -> None:
        self.rollout = rollout
        self.return_ = return_
        self.length = length
        self.was_shown = was_shown
        self.roles: set[str] = set()

    @property
    def target(self) -> Target:
        labels = (*(label for label in LABELS if label in self.roles), *sorted(self.roles.difference(LABELS)))
        return Target(labels, () if self.rollout is None else (self.rollout,))


def _nearest_to_median(returns: Sequence[float]) -> int:
    centre = summary.median(returns)
    distances = [abs(value - centre) for value in returns]
    return distances.index(min(distances))


_CHOICES: dict[str, Callable[[Sequence[float]], int]] = {
    "worst": lambda returns: returns.index(min(returns)),
    "median": _nearest_to_median,
    "best": lambda returns: returns.index(max(returns)),
}
"""How a role is given to one of K rollouts, as in `docs/audit.md`: of equals the first."""


def _union(items: Sequence[_Item]) -> Target:
    return functools.reduce(lambda both, item: both | item.target, items, UNRESOLVED)


def _closest(number: Quantity, candidates: Sequence[tuple[float | None, Target]]) -> Target:
    """The candidates nearest to a printed number among those that it may be a rounding of."""
    distances = [
        (distance, target)
        for value, target in candidates
        if value is not None and (distance := number.distance(value)) is not None
    ]
    if not distances:
        return UNRESOLVED
    nearest = min(distance for distance, _ in distances)
    return functools.reduce(
        lambda both, found: both | found, [target for distance, target in distances if distance == nearest], UNRESOLVED
    )
