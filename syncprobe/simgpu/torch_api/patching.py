"""Attributes of torch that are replaced for a while and always put back."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MISSING = object()


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
        for module in _users_modules():
            # Asked first, without a loop in Python: a program can have thousands of modules.
            if originals.keys().isdisjoint(map(id, vars(module).values())):
                continue
            aliases = {
                name: originals[id(value)]
                for name, value in vars(module).items()
                if id(value) in originals
            }
            undo.enter_context(replaced(module, aliases))
        for owner, names in replacements.items():
            undo.enter_context(replaced(owner, names))
        yield


def _users_modules() -> list[ModuleType]:
    """Modules outside torch and this package, which know the originals for what they are."""
    return [
        module
        for name, module in list(sys.modules.items())
        if type(module) is ModuleType and name.partition(".")[0] not in {"torch", "syncprobe"}
    ]
