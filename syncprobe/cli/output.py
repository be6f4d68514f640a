"""Where a command's words go: results to standard output, everything else to standard error."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from syncprobe.rendering import Page
from syncprobe.rendering.figures import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


NARROWEST: Final = 80
"""Columns; below that, lines are left to wrap."""


def one_line(text: str) -> str:
    """The text with line breaks and terminal control characters made visible."""
    return printable(text.strip())


def say(message: str) -> None:
    """A note for the person at the terminal."""
    _write(sys.stderr, f"syncprobe: {message}\n")


def put(text: str) -> None:
    """The result of the command."""
    _write(sys.stdout, text if text.endswith("\n") else text + "\n")


def page() -> Page:
    """The page that standard output is: as wide as the terminal, coloured if it can be."""
    if not sys.stdout.isatty():
        return Page()
    is_coloured = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns
    return Page(width=max(width, NARROWEST), is_coloured=is_coloured)


@contextlib.contextmanager
def reserved_stdout(is_reserved: bool) -> Iterator[None]:
    """While open, what a program prints goes to standard error, its children's output too."""
    if not is_reserved:
        yield
        return
    sys.stdout.flush()
    try:
        number = sys.stdout.fileno()
        saved = os.dup(number)
    except (OSError, ValueError):  # standard output is no file, as in a test or a notebook
        with contextlib.redirect_stdout(sys.stderr):
            yield
        return
    os.dup2(2, number)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(saved, number)
        os.close(saved)


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    # A file name can hold what the terminal's encoding cannot.
    stream.write(text.encode(encoding, "replace").decode(encoding))
