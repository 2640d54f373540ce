"""The words that names of columns are made of, in logs of reflective optimizers."""

from __future__ import annotations

import re
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


INITIAL: Final = _set(
    "before parent initial old prev previous pre base baseline original orig current cur first vorher alt"
)
"""Words for the candidate that is revised."""
REVISED: Final = _set(
    "after child revised new proposed proposal candidate post updated mutated improved optimized offspring "
    "next second nachher neu"
)
"""Words for the candidate that comes of it."""
STARTS: Final = _set("base baseline original orig current cur first alt")
"""Words of the former that may mean a fixed reference as well: they need one of the latter beside them."""
SOFT: Final = _set("candidate current first second next base alt original")
"""Those of both that are often meant otherwise: they do not count beside another."""
WEAK: Final = ({"0", "a"}, {"1", "b"})
"""What often means the same, and as often does not."""

SCORES: Final = _set(
    "score reward return metric accuracy acc fitness em f1 point value success passed pass correct result "
    "grade rating utility punkte bewertung mean avg r"
)
COSTS: Final = _set("loss error cost regret perplexity ppl mse rmse wer cer penalty fehler")
"""Scores of which the lower is better."""
MEASURES: Final = _set("token length len count n num size time second version ms index id timestamp hash")
"""Numbers that are no scores."""
LABELS: Final = _set("train val valid validation dev test eval total name model type status")
"""Marks of objects whose entries are neither examples nor components."""
OTHER_TEXTS: Final = _set("output feedback trace trajectory diff description id model name error log path")
"""Texts that are not what is revised."""
TEXTS: Final = _set("prompt instruction text template program code system user component content candidate anweisung")
PARAMETERS: Final = _set("param theta parameter weight vector gain coefficient")
IDS: Final = ("id", "example", "idx", "index", "item", "key", "question", "subsample", "minibatch", "batch", "task")
ANSWERS: Final = (
    *("rationale", "reflection", "critique", "advice", "discussion", "explanation", "diagnosis", "analysis"),
    *("begründung", "begruendung", "kommentar", "comment", "completion", "response", "reasoning", "answer"),
)
"""Words for what a critic wrote."""
THINKING: Final = ("thinking", "thought", "cot", "scratchpad")
BATCHES: Final = frozenset({"subsample", "minibatch"})
"""Words for examples that a critic is shown all of."""
SHOWN: Final = frozenset({"shown", "displayed", "gezeigt"})
WORSE: Final = frozenset({"worse", "worst"})
BETTER: Final = frozenset({"better", "best"})

RUNS: Final = ("run", "lauf", "durchlauf", "durchgang", "experiment", "trial", "replicate", "rep", "repeat", "seed")
ITERATIONS: Final = ("iteration", "iter", "step", "round", "generation", "gen", "epoch", "schritt", "runde", "i", "t")
TIMES: Final = ("timestamp", "time", "datetime", "date", "created", "zeit")
CONDITIONS: Final = ("condition", "model", "llm", "lm", "modell")
TASKS: Final = ("env", "environment", "task", "dataset", "benchmark", "aufgabe", "datensatz")
METHODS: Final = ("variant", "method", "optimizer", "algorithm", "algo", "verfahren", "methode")
SECONDS: Final = ("seconds", "second", "sec", "secs", "duration", "elapsed", "dauer", "sekunde", "sekunden")
OTHER_UNITS: Final = _set("ms millisecond min minute hour h us ns")

KEPT: Final = _set("accepted accept accepts kept keep adopted committed akzeptiert übernommen uebernommen behalten")
"""Words for a flag that is true where the revised candidate is kept."""
REFUSED: Final = _set("rejected reject refused discarded reverted abgelehnt verworfen")
CHOICES: Final = _set("selected winner chosen choice decision")
"""Words that may mean the same, which the scores have to bear out."""
WON: Final = _set("1 1.0 true yes y ja pass passed correct ok")
"""What is worth 1 where it is a score."""
LOST: Final = _set("0 0.0 false no n nein fail failed incorrect wrong")
"""What is worth 0 where it is a score."""
YES: Final = WON | REVISED | _set("accepted accept kept keep adopted")
NO: Final = LOST | INITIAL | _set("rejected reject discarded refused reverted")

_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_CAMEL: Final = re.compile(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNCHANGED: Final = frozenset(
    {"pass", "loss", "success", "seconds", "secs", "accepts", "es", "ms", "gas", "pos", "analysis", "diagnosis"}
)


def words_of(path: str) -> tuple[str, ...]:
    """The words of a column's name, in lower case and in the singular: `newScores.f1` is new, score, f1."""
    words = _WORD.findall(_CAMEL.sub("_", path))
    joined: list[str] = []
    for word in words:
        if word.isdigit() and joined and joined[-1] == "f":
            joined[-1] += word
        else:
            joined.append(_singular(word.lower()))
    return tuple(joined)


def first_of(words: tuple[str, ...], ranked: tuple[str, ...]) -> int | None:
    """How early in a ranking the best of some words comes; None where none is in it."""
    places = [ranked.index(word) for word in words if word in ranked]
    return min(places) if places else None


def _singular(word: str) -> str:
    is_plural = len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural and word not in _UNCHANGED else word
