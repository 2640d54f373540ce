"""Numbers as programs write them into logs: `0.5`, `"np.float32(0.6)"`, `"np.True_"`, `"tensor(0.5)"`."""

from __future__ import annotations

import re
from typing import Final

_VALUE: Final = r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|inf|infinity)|True_?|False_?"
_PLAIN: Final = re.compile(rf"(?:(?:np|numpy)\.)?({_VALUE})", re.IGNORECASE)
_PREFIX: Final = r"(?:(?:np|numpy|jnp|torch|decimal)\.)?"
_TYPE: Final = r"(?:float|u?int|u?longlong|longdouble|bool_?|tensor|array|decimal)"
_EXTRAS: Final = r"(?:,\s*\w+=[^,()]+(?:\([^()]*\))?)*"
"""What a tensor states besides its value: `device='cuda:0'`, `dtype=torch.float64`, `grad_fn=<MeanBackward0>`."""
_TYPED: Final = re.compile(rf"{_PREFIX}{_TYPE}[0-9]*\(\s*(['\"]?)({_VALUE})\1{_EXTRAS}\s*\)", re.IGNORECASE)
_LIST: Final = re.compile(rf"(?:{_PREFIX}(?:tensor|array)\()?\s*\[([^\[\]]*)\]{_EXTRAS}(?:\s*\))?", re.IGNORECASE)
_COMMAS: Final = re.compile(r",(?![^(]*\))")
"""Commas between items, not those within the parentheses of one."""


def number_of(value: object) -> float | None:
    """The number that a value of a log is, NaN and infinities among them; None where it is none.

    A text is one as Python, NumPy, PyTorch, JAX and `decimal` write theirs; a truth value is 1 or 0.
    """
    if isinstance(value, str):
        text = value.strip()
        if (typed := _TYPED.fullmatch(text)) is not None:
            text = typed[2]
        elif (plain := _PLAIN.fullmatch(text)) is not None:
            text = plain[1]
        else:
            return None
        truth = {"true": 1.0, "false": 0.0}.get(text.rstrip("_").lower())
        return float(text) if truth is None else truth
    if not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def plain(value: object) -> object:
    """The same with numbers in place of what `number_of` reads, also in a list and in a text that is a list."""
    if isinstance(value, str) and (listed := _LIST.fullmatch(value.strip())) is not None:
        value = [part.strip() for part in _COMMAS.split(listed[1])] if listed[1].strip() else []
    if isinstance(value, list):
        return [item if (number := number_of(item)) is None else number for item in value]
    number = number_of(value)
    return value if number is None else number
