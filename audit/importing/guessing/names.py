"""Usual names: the words that names of columns are made of, and the columns of tools whose logs are known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


INITIAL: Final = _set(
    "before parent initial old prev previous pre base baseline original orig current cur first vorher alt"
)
REVISED: Final = _set(
    "after child revised new proposed proposal candidate post updated mutated improved optimized offspring "
    "next second nachher neu"
)
STARTS: Final = _set("base baseline original orig current cur first alt")
"""Words for the candidate before that may mean a fixed reference: they need a word for the one after beside them."""
SOFT: Final = _set("candidate current first second next base alt original")
"""Words that do not count beside another."""
EITHER: Final = (_set("0 a"), _set("1 b"))
"""Last words that often mean before and after, and as often do not."""

SCORES: Final = _set(
    "score reward return metric accuracy acc fitness em f1 point value success passed pass correct result "
    "grade rating utility punkte bewertung mean avg r"
)
COSTS: Final = _set("loss error cost regret perplexity ppl mse rmse wer cer penalty fehler")
MEASURES: Final = _set("token length len count n num size time second version ms index id timestamp hash")
"""Numbers that are no scores."""
LABELS: Final = _set("train val valid validation dev test eval total name model type status")
"""Marks of objects whose entries are neither examples nor components."""
TEXTS: Final = _set("prompt instruction text template program code system user component content candidate anweisung")
ANSWERS: Final = _set(
    "rationale reflection critique advice discussion explanation diagnosis analysis begründung begruendung kommentar "
    "comment completion response reasoning answer"
)
THINKING: Final = _set("thinking thought cot scratchpad")
NO_TEXTS: Final = (
    ANSWERS | THINKING | _set("output feedback trace trajectory diff description id model name error log path")
)
"""Texts that are not what is revised."""
PARAMETERS: Final = _set("param theta parameter weight vector gain coefficient")
IDS: Final = _set("id example idx index item key question subsample minibatch batch task")
BATCHES: Final = _set("subsample minibatch")
SHOWN: Final = _set("shown displayed gezeigt")
SECONDS: Final = _set("seconds second sec secs duration elapsed dauer sekunde sekunden")
OTHER_UNITS: Final = _set("ms millisecond min minute hour h us ns")

KEPT: Final = _set("accepted accept accepts kept keep adopted committed akzeptiert übernommen uebernommen behalten")
REFUSED: Final = _set("rejected reject refused discarded reverted abgelehnt verworfen")
CHOICES: Final = _set("selected winner chosen choice decision")
"""Words of columns that may state which candidate was kept, or something else."""
WON: Final = _set("1 1.0 true yes y ja pass passed correct ok")
LOST: Final = _set("0 0.0 false no n nein fail failed incorrect wrong")
YES: Final = WON | REVISED | KEPT
NO: Final = LOST | INITIAL | REFUSED

TIMES: Final = _set("timestamp time datetime date created zeit")
ABOUT_CANDIDATES: Final = INITIAL | SCORES | (TEXTS - _set("system program")) | ANSWERS | THINKING
"""Words of columns that are about one candidate, and identify no row."""

RANKED: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(words.split())
    for name, words in {
        "run": "run lauf durchlauf durchgang experiment trial replicate rep repeat seed",
        "iteration": "iteration iter step round generation gen epoch schritt runde i t timestamp time datetime date "
        "created zeit",
        "condition": "condition model llm lm modell",
        "env": "env environment task dataset benchmark aufgabe datensatz",
        "variant": "variant method optimizer algorithm algo verfahren methode",
    }.items()
}
"""Words of columns that identify a row, the most telling first."""


TOOLS: Final[Mapping[tuple[str, ...], Mapping[str, str]]] = {
    ("_step", "_runtime _timestamp"): {"run": "run_id run_name Name", "iteration": "_step _timestamp"},
    ("run_id", "experiment_id"): {"run": "tags.mlflow.parentRunId", "iteration": "start_time"},
    ("traceId trace_id sessionId session_id", "input", "output"): {
        "run": "sessionId session_id traceId trace_id",
        "iteration": "startTime start_time timestamp",
        "seconds": "latency",
        "before": "input",
        "after": "output",
    },
    ("number", "datetime_start", "state"): {"iteration": "number", "run": "study_name"},
}
"""What Weights & Biases, MLflow, Langfuse and Optuna call fields, and the candidates before and after.

By columns that show the tool: one of each of several.
"""

_WORD: Final = re.compile(r"[fF]1(?![^\W_])|[^\W\d_]+|\d+")
_CAMEL: Final = re.compile(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNCHANGED: Final = _set("pass loss success seconds secs accepts es ms gas pos analysis diagnosis")


def words_of(path: str) -> tuple[str, ...]:
    """The words of a column's name, in lower case and in the singular: `newScores.f1` is new, score, f1."""
    words = _WORD.findall(_CAMEL.sub("_", path))
    return tuple(_singular(word.lower()) for word in words)


def _singular(word: str) -> str:
    is_plural = len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural and word not in _UNCHANGED else word
