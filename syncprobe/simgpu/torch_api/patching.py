"""Attributes of torch that are replaced for a while and always put back."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, KeysView, Mapping

_MISSING = object()
_AT_ONCE = 64
"""Modules that are looked through together: to ask about one takes longer than to look at its names."""


@contextmanager
def replaced(owner: Any, replacements: Mapping[str, Any]) -> Iterator[None]:
    """Set attributes of a module or class; afterwards its own dictionary is what it was."""
    found = {name: vars(owner).get(name, _MISSING) for name in replacements}
    try:
        for name, value in replacements.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in found.items():
            if value is not _MISSING:
                setattr(owner, name, value)
            elif name in vars(owner):
                delattr(owner, name)


@contextmanager
def replaced_where_imported(
    replacements: Mapping[ModuleType, Mapping[str, Any]],
) -> Iterator[None]:
    """Replace attributes of modules, and the names of other modules that had imported them from there.

    ``from torch import tensor`` makes a name that replacing ``torch.tensor`` does not reach.
    """
    originals = {
        id(getattr(owner, name)): value
        for owner, names in replacements.items()
        for name, value in names.items()
    }
    with ExitStack() as undo:
        for module in _modules_with(originals.keys()):
            aliases = {
                name: originals[id(value)]
                for name, value in vars(module).items()
                if id(value) in originals
            }
            undo.enter_context(replaced(module, aliases))
        for owner, names in replacements.items():
            undo.enter_context(replaced(owner, names))
        yield


def _modules_with(identities: KeysView[int]) -> Iterator[ModuleType]:
    """Modules of the user that may have names for some objects; a program can have thousands of others."""
    modules = _users_modules()
    for start in range(0, len(modules), _AT_ONCE):
        some = modules[start : start + _AT_ONCE]
        values = chain.from_iterable(vars(module).values() for module in some)
        if not identities.isdisjoint(map(id, values)):
            yield from some


def _users_modules() -> list[ModuleType]:
    """Modules outside torch and this package, which know the originals for what they are."""
    return [
        module
        for name, module in list(sys.modules.items())
        if type(module) is ModuleType and name.partition(".")[0] not in {"torch", "syncprobe"}
    ]
