"""Where a figure comes from: the model behind the records, the records themselves, the software."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import pandas as pd

from figures.names import label

TEXTS: Final = "Texts are revised: a rollout and its return are an example and its score."
PACKAGES: Final = ("salience-audit", "duckdb", "matplotlib", "numpy", "pandas", "scipy")
SIMULATED: Final = "simulated"
OTHER: Final = "other"  # what `run.json` has where a foreign log names no backend


def simulated(facts: pd.DataFrame, condition: str) -> bool:
    """Whether any run of a condition was made with the simulated model.

    `facts` has one row per run, with columns condition, backend and model, as the audit's `run_facts`.
    """
    return bool((facts.loc[facts["condition"] == condition, "backend"] == SIMULATED).any())


def origin(facts: pd.DataFrame, condition: str) -> str:
    """What a condition's records were made with, as one sentence or more for a caption.

    `facts` is as for `simulated`. Several models in one condition are all named.
    """
    here = facts.loc[facts["condition"] == condition, ["backend", "model"]].drop_duplicates()
    models: dict[str, list[str]] = {}
    for backend, model in sorted({(_text(row.backend), _text(row.model)) for row in here.itertuples()}):
        models.setdefault(backend, []).append(model)
    made_with = [each for pair in models.items() for each in _sentences(*pair)] or [_sentence("", "")]
    are_texts = (
        (facts.loc[facts["condition"] == condition, "candidates"] == "text").any() if "candidates" in facts else False
    )
    return " ".join([*made_with, *([TEXTS] if are_texts else [])])


def _sentences(backend: str, models: list[str]) -> Iterator[str]:
    named = [model for model in models if model]
    if backend == SIMULATED or len(named) < 2:
        yield from (_sentence(backend, model) for model in models)
        return
    yield f"Models {', '.join(named)}" + (f" ({backend})." if backend else ".")
    if len(named) < len(models):
        yield _sentence(backend, "")


def _sentence(backend: str, model: str) -> str:
    if backend == SIMULATED:
        personality = model.removeprefix(f"{SIMULATED}-") or "not recorded"
        return f"Simulated model, personality {personality}: a simulated stand-in, not a language model."
    if not model:
        return "The model was not recorded." if backend in {"", OTHER} else f"Made with {backend}."
    return f"Model {model} ({backend})." if backend and backend != model else f"Model {model}."


def _text(value: object) -> str:
    return label(value) if isinstance(value, str) else ""


def digest(tables: Iterable[pd.DataFrame]) -> str:
    """SHA-256 of what tables hold, whatever the order of their rows or columns and whichever folder they came from.

    Two data sets with the same digest give the same figures. Columns that hold wall-clock times would break that: leave
    them out.
    """
    total = hashlib.sha256()
    for table in tables:
        columns = table[sorted(table.columns)]
        lines = sorted(repr(row) for row in columns.astype(object).where(columns.notna(), None).to_numpy().tolist())
        total.update("\n".join([*columns.columns, *lines, ""]).encode())
    return total.hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers and pictures depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
