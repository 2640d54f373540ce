"""Ctrl-C and SIGTERM end a command even where a user's task or template never comes to an end."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from typing import Final

PATIENCE: Final = 1.5
"""Seconds that a command has, once it was stopped, to end by itself."""


def stop_for_certain(message: str, status: int) -> threading.Event:
    """Start a thread that ends the process if a signal to stop has not done so in time. Call it in the main thread.

    Python's own handlers wait for the main thread, which may be in compiled code, and that of asyncio waits for the
    event loop.

    Args:
        message: printed on standard error.
        status: exit status.

    Returns:
        An event that ends the watch: set it before the command itself reports that it was stopped.
    """
    ended = threading.Event()
    receiver, sender = socket.socketpair()
    sender.setblocking(False)

    def watch(receiver: socket.socket, _: socket.socket) -> None:
        while receiver.recv(1)[0] not in {signal.SIGINT, signal.SIGTERM}:
            pass
        if not ended.wait(PATIENCE):
            print(message, file=sys.stderr, flush=True)
            os._exit(status)

    threading.Thread(target=watch, args=(receiver, sender), daemon=True).start()
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    return ended


def restore_handlers() -> None:
    """Install Python's handlers for signals to stop again, after a library has replaced them.

    Only the main thread can; elsewhere nothing happens.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.getsignal(number))
