"""Writes text files whole or not at all, as a shell's redirection would own and place them."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import uuid
from pathlib import Path
from typing import Final

from syncprobe.errors import SyncprobeError

OWN_OUTPUT: Final = (1, 2)
"""Standard output and standard error."""
PREFIX: Final = ".syncprobe-"
_HANDED_OVER: Final = ("/dev/", "/proc/")
STALE_SECONDS: Final = 600
"""A file that has had a temporary name for so long will never get its own."""


def write_text(path: Path, text: str) -> None:
    """Write a text file so that an interrupted write leaves what was there before.

    A new file gets the mode that the umask allows, a replaced one keeps its own. A link stays a link:
    what it points to is replaced.
    """
    refuse_pipe(path)
    content = text.encode("utf-8")
    try:
        if _is_stream(path):
            path.write_bytes(content)
        else:
            target = _behind_links(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, content)
    except OSError as error:
        raise SyncprobeError(
            f"Could not write {path}: {error.strerror}. Choose another place with -o."
        ) from error


def refuse_pipe(path: Path) -> None:
    """Refuse a pipe that somebody gave a name: whoever opens it waits for somebody at its other end.

    Those that a shell hands over, such as ``/dev/stdout`` and ``/dev/fd/63``, have somebody there.

    Raises:
        SyncprobeError: It is one.
    """
    try:
        is_pipe = stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return  # whoever opens it is told why not
    if is_pipe and not str(path).startswith(_HANDED_OVER):
        raise SyncprobeError(f"{path} is a pipe. Name a file.")


def takes_files(folder: Path) -> bool:
    """Whether a file can be made in a folder: tried, because modes do not say so of every file system."""
    try:
        descriptor = _open_unnamed(folder)
        if descriptor is None:
            temporary = _temporary(folder)
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            temporary.unlink()
        os.close(descriptor)
    except OSError:
        return False
    return True


def _is_stream(path: Path) -> bool:
    """A pipe or a terminal is no file that could be replaced, nor is the file we print to."""
    try:
        status = path.stat()
    except OSError:
        return False
    return not stat.S_ISREG(status.st_mode) or any(
        _is_open_as(descriptor, status) for descriptor in OWN_OUTPUT
    )


def _is_open_as(descriptor: int, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), status)
    except OSError:  # closed
        return False


def _behind_links(path: Path) -> Path:
    # Not Path.resolve, whose answer to links in a circle depends on the version of Python.
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _replace(path: Path, content: bytes) -> None:
    temporary = _temporary(path.parent)
    try:
        # Unlike tempfile, which makes private files, this leaves the mode to the umask.
        descriptor = _open_unnamed(path.parent)
        with temporary.open("xb") if descriptor is None else os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if path.exists():
                os.fchmod(stream.fileno(), stat.S_IMODE(path.stat().st_mode))
            if descriptor is not None:
                # With a folder to start from, which an absolute path ignores: only then links are followed.
                os.link(f"/proc/self/fd/{descriptor}", temporary, src_dir_fd=descriptor)
        temporary.replace(path)
        _sweep(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _temporary(folder: Path) -> Path:
    # A short name: the longest one a folder can hold leaves no room for additions.
    return folder / f"{PREFIX}{uuid.uuid4().hex}"


def _sweep(folder: Path) -> None:
    """Remove what was left by writers that were killed between naming a file and putting it in its place."""
    for left in folder.glob(f"{PREFIX}{'[0-9a-f]' * 32}"):
        with contextlib.suppress(OSError):  # somebody else was quicker
            if time.time() - left.stat().st_mtime > STALE_SECONDS:
                left.unlink()


def _open_unnamed(folder: Path) -> int | None:
    """A file that gets its name when it is complete, so that a kill before that leaves none; not every system can."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):  # noqa: PTH112  # no Path for a constant
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:
        # The file system cannot, or the folder is the problem: then the named file says so.
        return None
