"""Temporary folders that go away: with their owner, or when the next one looks, if the owner was killed."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.interrupts import finish, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

PREFIX: Final = "syncprobe-run-"
LOCK: Final = ".owner"
NAMED_WITHIN_S: Final = 3600.0
"""Whoever has not named its lock by then was killed while making the folder."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder outside of any project; what killed processes left behind is removed first."""
    sweep()
    held: list[tuple[Path, IO[str]]] = []
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
            if not (base / LOCK).exists():
                if time.time() - base.stat().st_mtime > NAMED_WITHIN_S:
                    shutil.rmtree(base, ignore_errors=True)
                continue
            with (base / LOCK).open("r+") as lock:
                if _is_free(lock):
                    shutil.rmtree(base, ignore_errors=True)


def _held_folder() -> tuple[Path, IO[str]]:
    base = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    lock = (base / f"{LOCK}.new").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Named only now: nobody can find it before it is held.
    (base / f"{LOCK}.new").rename(base / LOCK)
    return base, lock


def _give_up(held: list[tuple[Path, IO[str]]]) -> None:
    for base, lock in held:
        shutil.rmtree(base, ignore_errors=True)
        lock.close()


def _is_free(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
