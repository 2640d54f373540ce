"""Threads that fetch."""

from __future__ import annotations

import gc
import time

import pytest

from audit.remote.pool import DEMANDED, Pool, result_of


class Connection:
    pass


def test_an_error_is_not_held_after_it_was_raised():
    """Its traceback leads to connections of DuckDB, which complains of those that are open when the program ends."""
    pool = Pool()

    def fail():
        raise OSError("gone")

    def ask():
        connection = Connection()
        result_of(pool.submit(fail, DEMANDED))
        return connection

    def held():
        gc.collect()
        return [each for each in gc.get_objects() if type(each) is Connection]

    with pytest.raises(OSError, match="gone"):
        ask()
    for _ in range(500):
        if not held():
            break
        time.sleep(0.01)
    assert held() == []
