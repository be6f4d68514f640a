"""What the marks of a program talk to: a recorder, or a stopwatch, or whatever watches a pass."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Hears about the steps and regions of a running program."""

    def begin_step(self) -> None:
        """A step begins; the one before it, if any, is over."""

    def end_step(self) -> None:
        """The open step is over, and no other begins yet."""

    def enter_region(self, name: str) -> None:
        """The calling thread enters a region."""

    def leave_region(self) -> None:
        """The calling thread goes back to the region it came from."""
