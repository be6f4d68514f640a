"""The base of every error that syncprobe raises on purpose, and those that belong to no one part."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class SyncprobeError(Exception):
    """Something the user can put right. The command line prints it on one line and exits with 2."""


class UnknownNameError(SyncprobeError):
    """A name that is in no registry."""

    def __init__(self, noun: str, name: str, known: Sequence[str]) -> None:
        hint = did_you_mean(name, known, f"Choose from: {', '.join(sorted(known))}.")
        super().__init__(f"No {noun} is called {name!r}. {hint}")


class DuplicateNameError(SyncprobeError):
    """A second thing registered under a name that is taken."""

    def __init__(self, noun: str, name: str) -> None:
        super().__init__(f"A {noun} called {name!r} is registered already; choose another name.")


class UnfinishedPassError(SyncprobeError):
    """A program that did not come to its end where it was only to be timed."""


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """What to say about a name that nobody knows: the one that was probably meant, or something else."""
    meant = nearest(name, known)
    return otherwise if meant is None else f"Did you mean {meant!r}?"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that somebody probably meant, whatever its case; None if none is near."""
    entries = {entry.lower(): entry for entry in known}
    near = difflib.get_close_matches(name.lower(), entries, n=1)
    return entries[near[0]] if near else None
