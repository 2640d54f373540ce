"""Numbers in the forms in which Python, NumPy, PyTorch and JAX print theirs; words are none."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from audit.sources.numbers import number_of, plain

PRINTED = {
    "0.5": 0.5,
    " -1e-05 ": -1e-5,
    "np.float64(0.5)": 0.5,
    "numpy.float32(1e-07)": 1e-7,
    "np.longdouble('0.5')": 0.5,
    "np.True_": 1.0,
    "False": 0.0,
    "tensor(1.)": 1.0,
    "tensor(True)": 1.0,
    "tensor(0.5, device='cuda:0', dtype=torch.float64)": 0.5,
    "tensor(0.5000, grad_fn=<MeanBackward0>)": 0.5,
    "Array(0.5, dtype=float32, weak_type=True)": 0.5,
    "array(0.5, dtype=float32)": 0.5,
    "np.float64(-inf)": -math.inf,
}
WORDS = [
    "",
    "half",
    "0.5 of 1",
    "1,5",
    "1_000",
    "50%",
    "loss(0.5)",
    "np.float64()",
    "[0.5]",
    "1 0",
    "x.True_",
    "infinite",
]


@pytest.mark.parametrize("text", PRINTED)
def test_a_number_is_read_as_it_was_printed(text):
    assert number_of(text) == PRINTED[text]


@pytest.mark.parametrize(
    "kind", [np.float16, np.float64, np.longdouble, np.int8, np.uint64, np.bool_, Decimal, bool, int]
)
def test_a_number_is_read_back_from_what_its_type_prints(kind):
    assert number_of(repr(kind(1))) == number_of(str(kind(1))) == 1.0


@pytest.mark.parametrize("value", [*WORDS, None, [0.5], {"score": 1}])
def test_what_is_no_number_is_none(value):
    assert number_of(value) is None


def test_nan_is_read_and_lists_are_read_item_by_item():
    assert math.isnan(number_of("np.float64(nan)"))
    assert plain(repr(np.array([0.5, 1.0]))) == plain("[np.float64(0.5), 1]") == plain([0.5, "tensor(1)"]) == [0.5, 1.0]
    assert plain(["half", None]) == ["half", None]
    assert plain("half") == "half"
