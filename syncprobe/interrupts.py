"""Keeps an interrupt from arriving halfway through putting things in place, and ends processes with their parents."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

SET_PARENT_DEATH_SIGNAL: Final = 1
"""``PR_SET_PDEATHSIG`` of Linux."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Inside, Ctrl-C waits; it is delivered when the block is left.

    Only the main thread is ever interrupted, so in others there is nothing to wait for.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if before is None or before is _wait:  # set by C, or waiting already
        yield
        return
    _arrived.clear()
    signal.signal(signal.SIGINT, _wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if _arrived:
            _arrived.clear()
            # As the kernel would: whatever handler the program has set gets to see it.
            signal.raise_signal(signal.SIGINT)


def finish(put_back: Callable[[], None]) -> None:
    """Put things back, whatever happens: an interrupt that comes before or meanwhile is raised afterwards.

    Args:
        put_back: Called once more where an interrupt may have come first, so a second call must do no harm.
    """
    try:
        with uninterrupted():
            put_back()
    except KeyboardInterrupt:
        put_back()
        raise


def end_with(parent: int) -> None:
    """Have the system end this process with its parent, however that ends; only Linux can."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before it could be asked for
        os._exit(1)


_arrived: list[Any] = []


def _wait(number: int, frame: FrameType | None) -> None:
    _arrived.append((number, frame))
