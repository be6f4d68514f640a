"""A second thread, which does its half of some work at the same time.

Work is worth it that takes longer than waking a thread, some ten microseconds, and lets the interpreter go meanwhile, as
compiled code does. Nobody spins: where the machine is busy with something else, both halves merely take turns.
"""

from __future__ import annotations

import ctypes
import os
import threading
from _thread import allocate_lock
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


class _Task:
    """Work that is done once, by whoever comes first."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._claim, self._done = allocate_lock(), allocate_lock()
        self._done.acquire()
        self._error: BaseException | None = None

    def do(self) -> None:
        """Do it, unless somebody else does."""
        if not self._claim.acquire(blocking=False):
            return
        try:
            self._work()
        except BaseException as error:  # it is raised where the work was shared
            self._error = error
        finally:
            del self._work  # what was worked on is the sharer's to free
            self._done.release()

    def wait(self) -> None:
        """Return when it is done; raise what went wrong."""
        self._done.acquire()
        if self._error is not None:
            raise self._error


class Companion:
    """The thread; it is started when it is first needed, in each process."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        self._process = 0
        self._thread = 0
        self._avoids = -1

    def share(self, own: Callable[[], object], other: Callable[[], object]) -> None:
        """Do one thing here and the other one there; return when both are done."""
        if self._process != os.getpid():  # a forked process has no threads but its own
            self._start()
        self._keep_apart()
        task = _Task(other)
        self._tasks.put(task)
        try:
            own()
        finally:
            # Where no processor had time for it, it is done here.
            task.do()
            task.wait()

    def _start(self) -> None:
        self._tasks, self._process, self._avoids = SimpleQueue(), os.getpid(), -1
        is_ready = threading.Event()
        thread = threading.Thread(
            target=_work, args=(self._tasks, is_ready), name="patches companion", daemon=True
        )
        thread.start()
        is_ready.wait()
        self._thread = thread.native_id or 0

    def _keep_apart(self) -> None:
        """Keep the thread off the processor that this one runs on.

        Linux wakes a thread where its waker runs if it finds the others busy on average: it would wait there until the
        other half is done.
        """
        here = _processor()
        if here == self._avoids or here < 0:
            return
        self._avoids = here
        others = os.sched_getaffinity(0) - {here}
        with suppress(OSError):  # where that is forbidden, or there is no other, it runs anywhere
            os.sched_setaffinity(self._thread, others)


def _work(tasks: SimpleQueue[_Task], is_ready: threading.Event) -> None:
    # Each thread has a number of its own: products would wake further threads, and all of them wait for each other.
    # Part of it is one for all, so it is set before anybody can choose another.
    torch.set_num_threads(1)
    is_ready.set()
    while True:
        tasks.get().do()


def _find_processor() -> Callable[[], int]:
    """Find how to ask on which processor a thread runs; the answer is -1 where nobody can say, or choose."""
    found: Any = getattr(ctypes.CDLL(None), "sched_getcpu", None)
    return found if found and hasattr(os, "sched_setaffinity") else lambda: -1


_processor = _find_processor()


_companion = Companion()


def find_companion() -> Companion | None:
    """Return the second thread of this process, if there is a processor for it that torch does not use itself."""
    return _companion if torch.get_num_threads() == 1 and has_room() else None


def has_room() -> bool:
    """Return whether there is a processor for a second thread."""
    ask = getattr(os, "sched_getaffinity", None)
    return (len(ask(0)) if ask else os.cpu_count() or 1) > 1
