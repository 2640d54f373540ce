"""The candidates of a run, those that were refused too, with their parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import msgspec

from audit.measures.rounding import score_rounding
from audit.records.lines import RecordedRun, Records
from audit.sources.iterations import Candidate, Iteration
from audit.sources.prompts import LINEAGE, calls_in
from audit.vocabulary.keys import RunKey
from collector.records import PoolMember

Text = Mapping[str, str]
_CHARACTERS: Final = 4
"""Characters of a token, about, where a log counts no tokens."""


class _Call(msgspec.Struct, frozen=True):
    iteration: int
    prompt: str = ""
    completion: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(kw_only=True)
class Node:
    """A candidate, or a proposal that did not become one.

    Attributes:
        name: of the candidate; None of a proposal that was refused.
        role: seed, revision or merge.
        parents: names of the candidates that it was made from.
        iteration: the record that made it; None where none did.
        record: that record.
        text: None where it is not known.
        validation, validation_scores: how it did on the validation set, where that is known.
        tokens: of the calls that proposed it; None where they are not recorded.
    """

    name: str | None
    role: str
    parents: Sequence[str] = ()
    iteration: int | None = None
    record: Iteration | None = None
    text: Text | None = None
    validation: float | None = None
    validation_scores: Mapping[str, float] | None = None
    tokens: int | None = None

    @cached_property
    def scores(self) -> tuple[list[float], list[float]] | None:
        """Scores before and after on the examples that both have, in one order; None where that is not known."""
        record = self.record
        if record is None or record.revised is None:
            return None
        pairs = list(_paired(record.initial, record.revised))
        return ([before for _, before, _ in pairs], [after for _, _, after in pairs]) if pairs else None

    @cached_property
    def before(self) -> float | None:
        """Mean score of the parent where acceptance looked."""
        return _mean(self, 0)

    @cached_property
    def after(self) -> float | None:
        """Its own mean score there."""
        return _mean(self, 1)

    @property
    def answer(self) -> str | None:
        """What its author wrote."""
        return self.record.revised.answer if self.record is not None and self.record.revised is not None else None


@dataclass
class Pool:
    """The candidates of a run in the order in which they came.

    Attributes:
        identity: of the run.
        nodes: all that were tried.
        is_told: whether the log names parents; otherwise they are found by their texts.
        tokens: of all calls; None where they are not recorded.
        is_estimated: tokens are characters, divided by four.
        cycles: names of candidates that would be their own ancestors; their parents are left out.
    """

    identity: RunKey
    nodes: list[Node]
    is_told: bool
    tokens: int | None = None
    is_estimated: bool = False
    cycles: list[str] = field(default_factory=list)

    @cached_property
    def by_name(self) -> dict[str, Node]:
        """The candidates."""
        return {node.name: node for node in self.nodes if node.name is not None}

    def parents(self, node: Node) -> list[Node]:
        """Those that are known."""
        return [self.by_name[name] for name in node.parents if name in self.by_name]

    def gains(self, node: Node) -> tuple[float | None, float | None]:
        """Gain on the minibatch, and on validation without the minibatch's own examples, over its first parent."""
        here = None if node.before is None or node.after is None else node.after - node.before
        pairs = self.validated(node)
        if pairs:
            return here, sum(after - before for before, after in pairs) / len(pairs)
        parent = next(iter(self.parents(node)), None)
        if parent is None or parent.validation is None or node.validation is None:
            return here, None
        # A mean alone may be over the minibatch as well.
        is_apart = _examples_of(node).isdisjoint(node.validation_scores or parent.validation_scores or ())
        return here, node.validation - parent.validation if is_apart else None

    def validated(self, node: Node) -> list[tuple[float, float]]:
        """Validation scores of its first parent and its own, by example; without examples of its minibatch.

        A validation set is often the training set itself, and ids are the same there.
        """
        parent = next(iter(self.parents(node)), None)
        if parent is None or not parent.validation_scores or not node.validation_scores:
            return []
        used = _examples_of(node)
        shared = [key for key in node.validation_scores if key in parent.validation_scores and key not in used]
        return [(parent.validation_scores[key], node.validation_scores[key]) for key in shared]


def pools(records: Records, runs: Sequence[RecordedRun]) -> Iterator[Pool]:
    """The pool of each run whose candidates are texts."""
    for run in runs:
        if run.is_text:
            yield _pool(run, sorted(records.iterations(run), key=lambda each: each.iteration))


def examples(record: Iteration) -> Iterator[tuple[str, float, float | None]]:
    """Each example of an iteration with its score before, and after where it has one."""
    revised = record.revised
    ids = _ids(record.initial)
    after = {} if revised is None else dict(zip(_ids(revised), revised.returns, strict=False))
    for name, score in zip(ids, record.initial.returns, strict=False):
        yield name, score, after.get(name)


def rounding(record: Iteration) -> float:
    """By how much scores of a revision may differ and count as equal."""
    revised = record.revised.returns if record.revised is not None else []
    return score_rounding([*record.initial.returns, *revised, record.initial.mean_return])


def _pool(run: RecordedRun, iterations: Sequence[Iteration]) -> Pool:
    members = [each for file in run.files for each in calls_in(file, PoolMember, LINEAGE) if each is not None]
    members = list({member.candidate: member for member in members}.values())
    tokens, is_estimated = _tokens(run)
    nodes, cycles = _told(members, iterations) if members else (_found(iterations), [])
    for node in nodes:
        node.tokens = tokens.get(node.iteration) if node.iteration is not None else None
    total = sum(tokens.values()) if tokens else None
    return Pool(run.identity, nodes, bool(members), total, is_estimated, cycles)


def _told(members: Sequence[PoolMember], iterations: Sequence[Iteration]) -> tuple[list[Node], list[str]]:
    """Nodes of a log that names its candidates; refused proposals are the iterations that made none of them."""
    records = {record.iteration: record for record in iterations}
    parents = {member.candidate: list(member.parents) for member in members}
    cycles = _cut_cycles(parents)
    nodes: list[Node] = []
    by_text: dict[object, str] = {}
    for member in members:
        record = records.get(member.iteration) if member.iteration is not None else None
        text = member.text or (_text(record.revised) if record is not None else None)
        if text is not None:
            by_text[_key(text)] = member.candidate
        node = Node(
            name=member.candidate,
            role=member.role,
            parents=parents[member.candidate],
            iteration=member.iteration,
            record=record,
            text=text,
            validation=member.validation,
            validation_scores=member.validation_scores,
        )
        nodes.append(node)
    named = {node.name for node in nodes}
    for node in list(nodes):
        # A log of revisions alone begins with a parent that it never made.
        for parent in node.parents:
            if parent not in named:
                named.add(parent)
                text = None if node.record is None else _text(node.record.initial)
                if text is not None:
                    by_text.setdefault(_key(text), parent)
                nodes.insert(0, Node(name=parent, role="seed", text=text))
    made = {member.iteration for member in members}
    for record in iterations:
        if record.iteration not in made and record.revision_status != "none":
            known = by_text.get(_key(_text(record.initial)))
            nodes.append(_refused(record, [] if known is None else [known]))
    order = {node.name: place for place, node in enumerate(nodes)}
    return sorted(nodes, key=lambda node: (_when(node, nodes, order), order.get(node.name, 0))), cycles


def _when(node: Node, nodes: Sequence[Node], order: Mapping[str | None, int]) -> int:
    """The iteration of a node; of a merge, the latest of those that joined the pool before it."""
    if node.iteration is not None:
        return node.iteration
    if node.role == "seed":
        return -1
    place = order[node.name]
    return max((each.iteration for each in nodes[:place] if each.name and each.iteration is not None), default=-1)


def _found(iterations: Sequence[Iteration]) -> list[Node]:
    """Nodes of a log that names no candidates: a text is its own name, numbered as texts appear."""
    nodes: list[Node] = []
    names: dict[object, str] = {}

    def name(text: Text | None) -> str | None:
        return None if text is None else names.get(_key(text))

    for record in iterations:
        text = _text(record.initial)
        if text is not None and name(text) is None:
            names[_key(text)] = str(len(names))
            nodes.append(Node(name=name(text), role="seed", text=text))
        if record.revision_status == "none":
            continue
        parent = name(text)
        parents = [] if parent is None else [parent]
        revised = _text(record.revised)
        if record.selected != "revised" or revised is None:
            nodes.append(_refused(record, parents))
        elif name(revised) is None:
            names[_key(revised)] = str(len(names))
            iteration = record.iteration
            node = Node(name=name(revised), role="revision", parents=parents, iteration=iteration, record=record)
            node.text = revised
            nodes.append(node)
    return nodes


def _refused(record: Iteration, parents: Sequence[str]) -> Node:
    text = _text(record.revised)
    return Node(name=None, role="revision", parents=parents, iteration=record.iteration, record=record, text=text)


def _cut_cycles(parents: dict[str, list[str]]) -> list[str]:
    """Leave out parents that are descendants, in place; the names of those whose parents were left out."""
    state: dict[str, int] = {}
    cut: list[str] = []
    for start, first in parents.items():
        stack = [(start, iter(first))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            name, rest = stack[-1]
            for parent in rest:
                if state.get(parent) == 1:
                    cut.append(name)
                elif parent in parents and parent not in state:
                    state[parent] = 1
                    stack.append((parent, iter(parents[parent])))
                    break
            else:
                state[name] = 2
                stack.pop()
    for name in cut:
        parents[name] = []
    return list(dict.fromkeys(cut))


def _tokens(run: RecordedRun) -> tuple[dict[int, int], bool]:
    found: dict[int, int] = {}
    is_estimated = False
    for file in run.files:
        for call in calls_in(file, _Call):
            if call is None:
                continue
            if call.prompt_tokens is not None or call.completion_tokens is not None:
                tokens = (call.prompt_tokens or 0) + (call.completion_tokens or 0)
            else:
                tokens, is_estimated = (len(call.prompt) + len(call.completion or "")) // _CHARACTERS, True
            found[call.iteration] = found.get(call.iteration, 0) + tokens
    return found, is_estimated


def _paired(initial: Candidate, revised: Candidate) -> Iterator[tuple[str, float, float]]:
    after = dict(zip(_ids(revised), revised.returns, strict=False))
    for name, before in zip(_ids(initial), initial.returns, strict=False):
        if name in after:
            yield name, before, after[name]


def _ids(candidate: Candidate) -> list[str]:
    ids = candidate.example_ids
    return ids if isinstance(ids, list) else [str(place) for place in range(len(candidate.returns))]


def _examples_of(node: Node) -> set[str]:
    """The minibatch of a proposal, where its examples have ids."""
    ids = None if node.record is None else node.record.initial.example_ids
    return set(ids) if isinstance(ids, list) else set()


def _mean(node: Node, side: int) -> float | None:
    scores = node.scores
    if scores is not None:
        return sum(scores[side]) / len(scores[side])
    record = node.record
    if record is None or record.revised is None:
        return None
    return (record.initial, record.revised)[side].mean_return


def _text(candidate: Candidate | None) -> dict[str, str] | None:
    text = None if candidate is None else candidate.text
    return text if isinstance(text, dict) else None


def _key(text: Text | None) -> object:
    return None if text is None else frozenset(text.items())
