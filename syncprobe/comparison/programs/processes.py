"""A process that runs passes of one program, in a folder of its own, for as long as it is wanted."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, Final

from syncprobe.errors import SyncprobeError, UnfinishedPassError
from syncprobe.interrupts import uninterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from multiprocessing.connection import Connection
    from pathlib import Path

STOP: Final = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a process works, and with what in its environment."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)


class RunnerProcess:
    """The other process, as seen from here."""

    def __init__(self, pipe: Connection, name: str) -> None:
        self._pipe = pipe
        self._name = name

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function over there.

        Raises:
            SyncprobeError: It raised one, or the process is no more.
        """
        try:
            self._pipe.send((function, args))
            is_good, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise SyncprobeError(
                f"The process that ran {self._name} ended without an answer."
            ) from error
        if is_good:
            return answer
        kind, message = answer
        raise (UnfinishedPassError if kind == UnfinishedPassError.__name__ else SyncprobeError)(
            message
        )


@contextmanager
def runner(place: Place, name: str) -> Iterator[RunnerProcess]:
    """A new process, which is ended on the way out whatever it is doing."""
    # Spawned, not forked: it starts with nothing that an earlier run has imported or changed.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, place), name=f"syncprobe {name}")
    try:
        # What was interrupted while it started could not be ended.
        with uninterrupted():
            process.start()
            there.close()
        yield RunnerProcess(here, name)
    finally:
        here.close()
        if process.pid is not None:
            process.kill()
            process.join()


def _serve(pipe: Connection, place: Place) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _arrange_streams()
    os.chdir(place.folder)
    os.environ.update(place.variables)
    while True:
        try:
            function, args = pipe.recv()
        except EOFError:
            return
        pipe.send(_answer(function, args))


def _answer(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, function(*args)
    except SyncprobeError as error:
        return False, (type(error).__name__, str(error))


def _end_with_parent() -> None:
    """A parent that is killed cannot end its children."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextmanager
def silence() -> Iterator[None]:
    """While open, what a program prints is heard but not shown."""
    sys.stdout.flush()
    shown, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(shown, 1)
        os.close(shown)
        os.close(nothing)


def _arrange_streams() -> None:
    """What a program prints is not the result of a comparison; and nobody is there to answer it."""
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # multiprocessing has put another one there
