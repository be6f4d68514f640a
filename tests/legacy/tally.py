"""What a test session compared with the recording: how strictly, and why not more so."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from tests.legacy.fingerprint import Kind, agreeing


@dataclass
class Tally:
    """Counts of one session, or of one worker of it."""

    agreeing: frozenset[Kind] = field(default_factory=agreeing)
    """Kinds of operation that round here as they did for the recording."""
    exact: int = 0
    """Arrays compared bit for bit."""
    tolerant: int = 0
    """Arrays compared within a tolerance."""
    values: int = 0
    left_out: int = 0
    """Values that other arithmetic leads away from, and that were not compared."""
    files: set[str] = field(default_factory=set)
    differing: set[Kind] = field(default_factory=set)
    """Kinds of operation that arrays were compared within a tolerance for."""

    def is_exact(self, kinds: frozenset[Kind]) -> bool:
        return kinds <= self.agreeing

    def count(self, size: int, kinds: frozenset[Kind]) -> None:
        """Count one array."""
        self.values += size
        if self.is_exact(kinds):
            self.exact += 1
        else:
            self.tolerant += 1
            self.differing |= kinds - self.agreeing

    def as_data(self) -> dict[str, Any]:
        """Plain data, which a worker can hand to the controller."""
        counted = asdict(self)
        del counted["agreeing"]
        return {
            name: sorted(map(str, value)) if isinstance(value, set) else value
            for name, value in counted.items()
        }

    def add(self, counted: dict[str, Any]) -> None:
        """Add what a worker counted."""
        for each in fields(self)[1:]:
            own, other = getattr(self, each.name), counted[each.name]
            setattr(self, each.name, own | set(other) if isinstance(own, set) else own + other)

    def summary(self) -> str:
        arrays = self.exact + self.tolerant
        text = f"golden data: {arrays} arrays ({self.values} values) of {len(self.files)} files compared, "
        text += f"{self.exact} bit for bit"
        if self.tolerant:
            differing = ", ".join(sorted(self.differing))
            text += f", {self.tolerant} within tolerance because of how this machine rounds: {differing}"
        return f"{text}; {self.left_out} values not compared"
