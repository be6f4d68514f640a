"""Every error that syncprobe raises on purpose, each saying what to do next."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class SyncprobeError(Exception):
    """Something the user can put right. The command line prints it on one line and exits with 2."""


class UnknownNameError(SyncprobeError):
    """A name that is in no registry."""

    def __init__(self, noun: str, name: str, known: Sequence[str]) -> None:
        near = difflib.get_close_matches(name.lower(), [entry.lower() for entry in known], n=1)
        match = next((entry for entry in known if near and entry.lower() == near[0]), None)
        hint = f"Did you mean {match!r}?" if match else f"Choose from: {', '.join(sorted(known))}."
        super().__init__(f"No {noun} is called {name!r}. {hint}")


class DuplicateNameError(SyncprobeError):
    """A second thing registered under a name that is taken."""

    def __init__(self, noun: str, name: str) -> None:
        super().__init__(f"A {noun} called {name!r} is registered already; choose another name.")
