"""Where results go: whether a file can be written, asked before the run, and what its name asks for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.cli.parsing import UsageError
from syncprobe.errors import SyncprobeError
from syncprobe.files import refuse_pipe, takes_files

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Iterable

STANDARD_OUTPUT: Final = Path("-")
SUFFIXES: Final = {
    ".html": "html",
    ".json": "json",
    ".md": "md",
    ".sarif": "sarif",
    ".txt": "console",
}
"""The formats that the name of a file asks for."""


def add_output(parser: ArgumentParser, help_text: str) -> None:
    """Declare where a result goes."""
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help=help_text)


def format_of(path: Path, offered: Iterable[str], otherwise: str) -> str:
    """The format that a file's name asks for; names that ask for none get what is usual.

    Raises:
        UsageError: It is not among those that there are for this result.
    """
    name = SUFFIXES.get(path.suffix.lower(), otherwise)
    offered = tuple(offered)
    if name not in offered:
        known = ", ".join(suffix for suffix, each in SUFFIXES.items() if each in offered)
        raise UsageError(f"There is no {path.suffix} file of this. Choose from: {known}.")
    return name


def check_destination(path: Path | None, offered: Iterable[str], otherwise: str) -> None:
    """Refuse, before the run, a result that could not be made or not be put there."""
    if path is None or path == STANDARD_OUTPUT:
        return
    if format_of(path, offered, otherwise) == "html":
        check_page()
    check_writable(path)


def check_page() -> None:
    """Refuse a page before the run if it could not be made."""
    from syncprobe.rendering.html.page import check_templates  # nobody else needs the renderer

    check_templates()


def check_writable(path: Path) -> None:
    """Refuse a place for a result before the program runs, not a minute later."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # the folder will tell
    except OSError as error:  # such as a name that is too long
        raise UsageError(
            f"Could not write {path}: {error.strerror}. Choose another place."
        ) from error
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file in it.")
    refuse_pipe(path)
    if path.exists() and not path.is_file():
        return  # a pipe or a device is written to, not replaced, so its folder does not matter
    target = Path(os.path.realpath(path))  # what is behind a link is replaced, not the link
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir() or not takes_files(folder):
        raise UsageError(
            f"Nothing can be written to {folder}. Choose another place for {path.name}."
        )


def do_all(*actions: Callable[[], object]) -> None:
    """Do everything, whatever fails on the way: a file that cannot be written costs nobody the report.

    Raises:
        SyncprobeError: What failed first.
    """
    failures = []
    for action in actions:
        try:
            action()
        except SyncprobeError as error:
            failures.append(error)
    if failures:
        raise failures[0]
