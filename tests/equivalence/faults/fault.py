"""A fault: a few characters of one module that are written otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is changed, and who runs into it."""

    name: str
    module: str
    """Below ``patches``."""
    old: str
    new: str
    agent: str = "DDPG"
    pipeline: str = "original"
    mode: str = "fast"
    equivalent: str = ""
    """Why nobody can notice; empty for a fault that has to be caught."""
    is_compiled: bool = False
    """Whether only compiled code runs into it; else it is planted where arrays do the work."""
    beyond_verify: str = ""
    """Why only a test of the part itself can notice; empty if verification has to."""

    @property
    def path(self) -> Path:
        """The file it is planted in."""
        return ROOT / "patches" / (self.module.replace(".", "/") + ".py")

    @property
    def full_module(self) -> str:
        """The module as it is imported."""
        return f"patches.{self.module}"

    def source(self) -> str:
        """The module with the fault in it.

        Raises:
            ValueError: The place is gone, or there are two such places.
        """
        text = self.path.read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {text.count(self.old)} places in {self.module}, not 1")
        return text.replace(self.old, self.new)
