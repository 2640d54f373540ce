"""Work in a process beside: its results, its errors, and its end."""

from __future__ import annotations

import math
import os
import signal
import threading
import time

import pytest

from audit.rerun.aside import Aside, AsideError


def test_calls_share_a_process_that_is_replaced_where_it_dies_or_takes_too_long():
    with Aside() as aside:
        first = aside.run(os.getpid, seconds=60)
        with pytest.raises(ValueError, match=r"math domain error|expected a nonnegative input"):
            aside.run(math.sqrt, -1.0, seconds=60)
        assert aside.run(os.getpid, seconds=60) == first != os.getpid()
        with pytest.raises(AsideError, match=f"the process that ran it ended with status {-signal.SIGABRT}"):
            aside.run(os.abort, seconds=60)
        assert aside.run(abs, -1, seconds=60) == 1
        with pytest.raises(AsideError, match=r"it took more than 0\.1 seconds"):
            aside.run(time.sleep, 3600, seconds=0.1)
        assert aside.run(os.getpid, seconds=60) != first


def test_closing_ends_the_wait_of_another_thread():
    aside, ended = Aside(), []
    aside.run(abs, 1, seconds=60)

    def wait():
        try:
            aside.run(time.sleep, 3600, seconds=3600)
        except AsideError as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not aside._turn.locked():
        pass
    aside.close()
    thread.join(60)
    assert len(ended) == 1
