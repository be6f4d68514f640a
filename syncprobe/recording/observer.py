"""What the marks of a program talk to: a recorder, or a stopwatch, or whatever watches a pass."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Hears about the steps and regions that a running program marks."""

    def begin_step(self) -> None:
        """A step begins; the one before it, if any, is over."""

    def end_step(self) -> None:
        """The open step is over, and no other begins yet."""

    def enter_region(self, name: str) -> None:
        """The calling thread enters a region."""

    def leave_region(self) -> None:
        """The calling thread goes back to the region it came from."""


class Observer(Listener, Protocol):
    """Hears about steps from someone who has to find them, and may have to think again."""

    def drop_step(self) -> None:
        """The open step turns out to be none: it belongs to what is between steps, or after them."""

    def forget_steps(self) -> None:
        """All steps so far turn out to be none: what a step is was understood only now."""

    @property
    def has_enough(self) -> bool:
        """All steps that are wanted are over."""
