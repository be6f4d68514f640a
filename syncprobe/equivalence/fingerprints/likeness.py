"""What a comparison of fingerprints found, in values and in words."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass


class Kind(enum.StrEnum):
    """How alike two runs are."""

    IDENTICAL = "identical"
    """Every value that was looked at is equal to the last bit."""
    WITHIN = "within tolerance"
    """Differences are as small as rounding makes them, for some steps or for all."""
    DIFFERENT = "different"
    INCOMPARABLE = "not comparable"
    """There is nothing to compare, or comparing would prove nothing; `Likeness.reason` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """The earliest thing that came out otherwise."""

    what: str
    """Such as ``parameter``, ``loss`` or ``random draws``."""
    name: str = ""
    """Which one, such as ``policy.fc1.weight``."""
    step: int | None = None
    """Optimizer step, from 1; None for what belongs to no step."""
    since: int | None = None
    """The step that was looked at before this one; those in between may differ, too."""
    size: float | None = None
    """How far apart the values are (of a tensor: the norm, as its sketch estimates it)."""
    relative: float | None = None
    """The same as a share of the value."""
    before: str = ""
    after: str = ""
    """Both values, where they are short."""

    def __str__(self) -> str:
        """Everything about it in one clause."""
        name = f" {self.name}" if self.name else ""
        return f"{self.what}{name}{self._place()}{self._size()}"

    def _place(self) -> str:
        if self.step is None:
            return ""
        if self.since is not None and self.since < self.step - 1:
            return f" at step {self.step} or up to {self.step - self.since - 1} before"
        return f" at step {self.step}"

    def _size(self) -> str:
        values = f" ({self.before}, then {self.after})" if self.before or self.after else ""
        if self.size is None:
            return values
        if math.isnan(self.size):
            return f" by something that is not a number{values}"
        share = f", {self.relative:.1e} of its size" if self.relative is not None else ""
        return f" by {self.size:.2g}{share}{values}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How alike two runs are, and where they part."""

    kind: Kind
    steps: int = 0
    """Optimizer steps that both made."""
    looked_at: int = 0
    """How many of these were compared."""
    first: FirstDifference | None = None
    """None if nothing differs."""
    beyond: FirstDifference | None = None
    """Where the tolerance was left, of runs that began by differing within it; None if it never was."""
    reason: str = ""
    remarks: tuple[str, ...] = ()
    """What differs without being a difference in what was computed, such as words that are printed."""

    @property
    def is_identical(self) -> bool:
        """Nothing differs, printed words included."""
        return self.kind is Kind.IDENTICAL and not self.remarks

    @property
    def summary(self) -> str:
        """One clause for a table or a sentence."""
        if self.kind is Kind.INCOMPARABLE:
            return f"not comparable because {self.reason}"
        if self.kind is Kind.IDENTICAL:
            looked = "all" if self.looked_at >= self.steps else f"{self.looked_at:,} of"
            return f"identical ({looked} {self.steps:,} optimizer steps, bit for bit)"
        if self.kind is Kind.DIFFERENT:
            return f"differs first in {self.first}"
        until = self.steps if self.beyond is None else (self.beyond.step or 1) - 1
        over = "" if self.beyond is None else f", then beyond it in {self.beyond}"
        return f"equal within tolerance up to step {until:,}{over} (first in {self.first})"
