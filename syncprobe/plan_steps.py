"""The five steps of the plan: what they are called, and how a choice of them is written everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from syncprobe.errors import SyncprobeError, nearest

Steps = str | int | Iterable[int]
"""``"none"``, ``"all"``, ``"decide"``, ``"2"``, ``"1-3"``, ``"1,4"``, 2, or the numbers themselves."""

SPELLINGS: Final = "none, all, decide, 2, 1-3 or 1,4"
"""Examples of all that a choice can be written as."""

_PART = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


class Step(Protocol):
    """What a choice of steps is made by."""

    @property
    def number(self) -> int:
        """From 1 on."""

    @property
    def name(self) -> str:
        """One word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStep:
    """One step of the plan, whatever program it is carried out on."""

    number: int
    name: str
    """One word, for choices, tables and folders."""
    title: str


FIVE_STEPS: Final = (
    NamedStep(number=1, name="decide", title="Keep the decision on the device"),
    NamedStep(number=2, name="read", title="Fewer scalar reads"),
    NamedStep(number=3, name="reuse", title="Persistent buffers"),
    NamedStep(number=4, name="keep", title="No needless host/device copies"),
    NamedStep(number=5, name="merge", title="Bigger operations, fewer calls"),
)
NUMBERS: Final = tuple(step.number for step in FIVE_STEPS)


class ChoiceError(SyncprobeError, ValueError):
    """A choice of steps that cannot be read, or names a step that does not exist."""

    def __init__(self, choice: object, steps: Sequence[Step]) -> None:
        words = ("none", "all", *(step.name for step in steps))
        meant = nearest(str(choice), words)
        self.hint = (
            f"{f'Did you mean {meant!r}? ' if meant else ''}Use {SPELLINGS}; "
            f"steps go from {steps[0].number} to {steps[-1].number}."
        )
        super().__init__(f"{choice!r} does not name steps of the plan. {self.hint}")


def chosen_numbers(choice: Steps, steps: Sequence[Step] = FIVE_STEPS) -> tuple[int, ...]:
    """Numbers of the chosen steps, in order and each once.

    Args:
        choice: As written on a command line, in a budget or in a call of ``patches.apply``.
        steps: What there is to choose from, by number.

    Raises:
        ChoiceError: The choice cannot be read, or names a step that does not exist.
    """
    numbers = _listed(choice, steps)
    known = {step.number for step in steps}
    if numbers is None or not known.issuperset(numbers):
        raise ChoiceError(choice, steps)
    return tuple(sorted(set(numbers)))


def _listed(choice: object, steps: Sequence[Step]) -> list[int] | None:
    """Numbers as they were given; None if they cannot be read."""
    if isinstance(choice, str):
        return _written(choice.strip().lower(), steps)
    numbers: list[Any] = list(choice) if isinstance(choice, Iterable) else [choice]
    # True is an int to Python, and no step to anybody.
    return numbers if all(type(number) is int for number in numbers) else None


def _written(text: str, steps: Sequence[Step]) -> list[int] | None:
    if text == "none":
        return []
    if text == "all":
        return [step.number for step in steps]
    numbers: list[int] = []
    for part in text.split(","):
        found = list(_numbers_of(part.strip(), steps))
        if not found:
            return None
        numbers += found
    return numbers


def _numbers_of(part: str, steps: Sequence[Step]) -> Iterator[int]:
    """What one name, number or range stands for; nothing if it stands for nothing."""
    named = [step.number for step in steps if step.name == part]
    if named:
        yield from named
        return
    written = _PART.fullmatch(part)
    if written is not None:
        first, last = int(written[1]), int(written[2] or written[1])
        if last <= steps[-1].number:
            yield from range(first, last + 1)
