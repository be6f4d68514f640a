"""Processes that the program starts: nobody watches them, so the profile says that they were there."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOTE: Final = "The program started other processes. What they did is not in this profile."


@contextmanager
def children_told(note: Callable[[str], None]) -> Iterator[None]:
    """While open, a note is made of every process that may do a part of the program's work.

    Forks do, and other runs of Python; tools such as git do not.
    """
    with ExitStack() as undo:
        undo.callback(setattr, os, "fork", os.fork)
        undo.callback(setattr, subprocess.Popen, "__init__", subprocess.Popen.__init__)
        os.fork = _telling_fork(os.fork, note)
        subprocess.Popen.__init__ = _telling_start(subprocess.Popen.__init__, note)  # type: ignore[method-assign]  # put back above
        yield


def _telling_fork(original: Callable[[], int], note: Callable[[str], None]) -> Callable[[], int]:
    def fork() -> int:
        note(NOTE)
        return original()

    return fork


def _telling_start(
    original: Callable[..., None], note: Callable[[str], None]
) -> Callable[..., None]:
    def start(self: Any, args: Any, *others: Any, **options: Any) -> None:
        if _is_python(args):
            note(NOTE)
        original(self, args, *others, **options)

    return start


def _is_python(args: Any) -> bool:
    """A command runs Python: this one, or one of that name."""
    if isinstance(args, str):
        args = args.split()
    elif not isinstance(args, list | tuple):
        args = [args] if isinstance(args, bytes | os.PathLike) else []
    program = os.fsdecode(args[0]) if args else ""
    return program == sys.executable or Path(program).name.startswith("python")
