"""Temporary folders that go away: with their owner, or when the next one looks, if the owner was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.interrupts import finish, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "syncprobe-run-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder outside of any project; what killed processes left behind is removed first."""
    sweep()
    held: list[tuple[Path, int]] = []
    try:
        with uninterrupted():
            held.append(_held_folder())
        folder = held[0][0] / "project"
        folder.mkdir()
        yield folder
    finally:
        finish(lambda: _give_up(held))


def sweep() -> None:
    """Remove the folders whose owner is no more: nobody holds their lock."""
    for base in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(base, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(base, ignore_errors=True)
            finally:
                os.close(lock)


def _held_folder() -> tuple[Path, int]:
    """A new folder and its lock; whoever sweeps between the two takes the folder away, and another is made."""
    while True:
        base = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        with suppress(FileNotFoundError):
            lock = os.open(base, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if base.exists():
                return base, lock
            os.close(lock)


def _give_up(held: list[tuple[Path, int]]) -> None:
    while held:
        base, lock = held[-1]
        shutil.rmtree(base, ignore_errors=True)
        os.close(lock)
        held.pop()
