"""Threads that fetch."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

from audit.remote.pool import DEMANDED, Pool, result_of


class Connection:
    pass


def test_an_error_is_not_held_after_it_was_raised():
    """Its traceback leads to connections of DuckDB, which complains of those that are open when the program ends."""
    pool = Pool()
    known = []

    def fail():
        raise OSError("gone")

    def ask():
        connection = Connection()
        known.append(weakref.ref(connection))
        result_of(pool.submit(fail, DEMANDED))
        return connection

    def held():
        gc.collect()
        return [each for each in known if each() is not None]

    with pytest.raises(OSError, match="gone"):
        ask()
    for _ in range(500):
        if not held():
            break
        time.sleep(0.01)
    assert held() == []
