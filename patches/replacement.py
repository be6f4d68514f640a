"""One attribute of a program and what stands in for it: a row of a step's table."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Replacement:
    """What to put in the place of a program's attribute."""

    owner: str
    """``module`` or ``module:Class``."""
    attribute: str
    """Name of the attribute."""
    function: Any
    """The stand-in: a function, a property or a class."""
    is_new: bool = False
    """Whether the owner has no such attribute, and is given one."""

    def resolve(self) -> Any:
        """The module or class that owns the attribute."""
        module_name, _, class_name = self.owner.partition(":")
        module = importlib.import_module(module_name)
        return getattr(module, class_name) if class_name else module
