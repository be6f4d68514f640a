"""Who wrote the methods of a thing: legacy, patches or torch, or somebody who wants to be asked."""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

_AUTHORS: Final = frozenset({"legacy_marinenav", "patches", "torch"})
_WATCHER: Final = "syncprobe"
"""Puts marks around methods, and hears what is decided together as well."""

_classes: dict[tuple[type, frozenset[str]], tuple[tuple[str, Any], ...]] = {}


def is_own_work(thing: Any, names: frozenset[str]) -> bool:
    """Return whether neither a thing nor its class brings methods of somebody else."""
    own = vars(thing)
    if not own.keys().isdisjoint(names) and not all(
        _author(own[name]) == _WATCHER for name in names & own.keys()
    ):
        return False
    return is_own_class(type(thing), names)


def is_own_class(owner: type, names: frozenset[str]) -> bool:
    """Return whether the methods of a class were written in legacy, patches or torch, whoever put them there."""
    # Asked for every decision, so what was found before is looked at first.
    known = _classes.get((owner, names))
    if known is not None and _has(owner, known):
        return True
    found = tuple((name, getattr(owner, name, None)) for name in names)
    if not all(method is None or _author(method) in _AUTHORS for _, method in found):
        return False
    _classes[owner, names] = found
    return True


def _has(owner: type, methods: tuple[tuple[str, Any], ...]) -> bool:
    for name, method in methods:  # noqa: SIM110 - a generator would take twice as long
        if getattr(owner, name, None) is not method:
            return False
    return True


def _author(method: Any) -> str:
    # Not ``__module__``, which a wrapper takes over from what it wraps.
    if not isinstance(method, FunctionType):
        return ""
    return str(method.__globals__.get("__name__", "")).partition(".")[0]
