"""Where a command's words go: results to standard output, everything else to standard error."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from syncprobe.errors import SyncprobeError
from syncprobe.rendering import DEFAULT_WIDTH, Page
from syncprobe.rendering.figures import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


NARROWEST: Final = 40
"""Columns; below that, lines are left to wrap."""


def one_line(text: str) -> str:
    """The text with line breaks and terminal control characters made visible."""
    return printable(text.strip())


def say(message: str) -> None:
    """A note for the person at the terminal."""
    _write(sys.stderr, f"syncprobe: {message}\n")


class LostOutputError(SyncprobeError):
    """Standard output takes no more, for another reason than a reader that went away."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"Standard output could not be written: {error.strerror}.")


def put(text: str) -> None:
    """The result of the command."""
    with _complained_about():
        _write(sys.stdout, text if text.endswith("\n") else text + "\n")


def flush() -> None:
    """Have all that was put written now, while somebody can still say that it was not."""
    with _complained_about():
        sys.stdout.flush()


def forget_stdout() -> None:
    """Give Python, which flushes once more on its way out, somewhere to flush to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _complained_about() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LostOutputError(error) from error


def page(*, is_full: bool = False) -> Page:
    """The page that standard output is: as wide as the terminal or ``COLUMNS`` says, coloured if it can be."""
    is_terminal = sys.stdout.isatty()
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    usual = shutil.get_terminal_size((DEFAULT_WIDTH, 24))
    is_wide_as_said = is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    width = usual.columns if is_wide_as_said else DEFAULT_WIDTH
    return Page(
        width=max(width, NARROWEST), is_coloured=is_terminal and not is_plain, is_full=is_full
    )


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
