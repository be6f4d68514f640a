"""Temporary folders that go away: with their owner, or when the next one looks, if the owner was killed."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

PREFIX: Final = "syncprobe-run-"
LOCK: Final = ".owner"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder outside of any project; what killed processes left behind is removed first."""
    sweep()
    base = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    lock = (base / f"{LOCK}.new").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Named only now: nobody can find it before it is held.
    (base / f"{LOCK}.new").rename(base / LOCK)
    folder = base / "project"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(base, ignore_errors=True)
        lock.close()


def sweep() -> None:
    """Remove the folders whose owner is no more: nobody holds their lock."""
    for base in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), (base / LOCK).open("r+") as lock:
            if _is_free(lock):
                shutil.rmtree(base, ignore_errors=True)


def _is_free(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
