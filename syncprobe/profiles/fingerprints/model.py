"""Fingerprints: digests and sketches of what a run computed, so that two runs can be told apart, and where.

Steps here are optimizer steps, counted from 1 over all optimizers. The steps that are kept are multiples of a
power of two, so that two runs that kept different ones have the sparser ones in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from syncprobe.profiles.quantities import Count

SKETCH: Final = 4
"""Numbers in a sketch; beside them stands the norm of the tensor."""
UNMOVED: Final = "="
"""Before the state of a generator that nobody has drawn from: where it stands may be chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPrint:
    """How everything stood after one optimizer step."""

    step: Count
    chain: str
    """Digest of this step and of every earlier one that was looked at."""
    hashes: str
    """Eight hexadecimal digits for each row of `Fingerprints.rows`."""
    sketches: str
    """Base64 of little-endian doubles: for each row its sketch, then its norm."""
    draws: Mapping[str, str] = field(default_factory=dict)
    """State of each random generator, after a `=` where it is that of the beginning: equal ones will draw the
    same from here on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Single numbers in the order they came about, such as losses."""

    count: Count = 0
    digest: str = ""
    """Of all of them to the last bit, not only of those that are kept."""
    every: Count = 1
    """Every so many-th is kept."""
    steps: tuple[int, ...] = ()
    """The optimizer step that was next when a kept number came about."""
    values: tuple[float | None, ...] = ()
    """None where it was no finite number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What went to standard output."""

    lines: Count = 0
    words: str = ""
    """Digest of the text with its numbers left out."""
    digest: str = ""
    """Of the text as it is."""
    numbers: tuple[float | None, ...] = ()
    """The first numbers in it; None where one is not finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """What one run computed."""

    steps: Count
    """Optimizer steps in all."""
    is_thorough: bool
    """Every step is in the chain, not only a sample of them."""
    rows: tuple[str, ...] = ()
    """What prints have hashes and sketches of: of each optimizer its parameters, then what it remembers.

    Prints from before an optimizer's first step lack its rows, which come last."""
    sizes: tuple[Count, ...] = ()
    """How many numbers each row has."""
    prints: tuple[StepPrint, ...] = ()
    losses: Series = field(default_factory=Series)
    """Roots of `backward()`."""
    observed: Mapping[str, Series] = field(default_factory=dict)
    """What the program handed over with `syncprobe.observe`, each as its mean."""
    printed: Printed = field(default_factory=Printed)
    exit_code: int = 0
