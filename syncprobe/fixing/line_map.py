"""Which line of one text is which line of another that was made from it."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class LineMap:
    """The lines of two texts, matched by what they say.

    Args:
        before: One text.
        after: The other.
    """

    def __init__(self, before: str, after: str) -> None:
        matcher = SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
        self._blocks = matcher.get_opcodes()

    def image(self, lines: Iterable[int]) -> set[int]:
        """Where lines of the first text are in the second; a line that was rewritten is all that replaced it."""
        wanted, found = set(lines), set()
        for kind, first, last, start, end in self._blocks:
            inside = {line for line in wanted if first < line <= last}
            if kind == "equal":
                found |= {line - first + start for line in inside}
            elif inside:
                found |= set(range(start + 1, end + 1))
        return found

    @property
    def gone(self) -> set[int]:
        """Lines of the first text that the second does not have."""
        return {
            line
            for kind, first, last, _, _ in self._blocks
            if kind != "equal"
            for line in range(first + 1, last + 1)
        }

    @property
    def new(self) -> set[int]:
        """Lines of the second text that the first does not have."""
        return {
            line
            for kind, _, _, start, end in self._blocks
            if kind != "equal"
            for line in range(start + 1, end + 1)
        }
