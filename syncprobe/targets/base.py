"""What a target is, and what is known after it has run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from syncprobe.errors import SyncprobeError

if TYPE_CHECKING:
    from pathlib import Path

    from syncprobe.analysis.model import Digest, Run
    from syncprobe.events import LineTime
    from syncprobe.recording.line_times import Functions

PLAN_STEPS: Final = (1, 2, 3, 4, 5)


class OptionError(SyncprobeError):
    """An option with a value it cannot have, or one that the target does not take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """How to run a target. None means: whatever the target's default is."""

    agent: str | None = None
    robots: int | None = None
    cores: int | None = None
    obstacles: int | None = None
    seed: int | None = None
    steps: int | None = None
    """Training steps to record, after warm-up."""
    warmup: int | None = None
    """Training steps to run before, so that learning has begun."""
    patches: tuple[int, ...] = ()
    mode: str = "fast"
    arguments: tuple[str, ...] = ()
    """What a script gets as its command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a pass of a target ended, and what it computed."""

    digest: Digest | None = None
    exit_code: int = 0
    interruption: str | None = None
    """Why the program did not run to its end; None if it did."""


class Target(Protocol):
    """Something that can be run on a device, as often as asked, always doing the same thing."""

    @property
    def name(self) -> str:
        """What the user called it."""

    @property
    def warmup(self) -> int:
        """Marked steps that pass before recording starts."""

    @property
    def steps(self) -> int | None:
        """Marked steps to record; None records all there are."""

    @property
    def root(self) -> Path:
        """The folder that its source paths are relative to."""

    @property
    def is_timed_by_default(self) -> bool:
        """Running it a second time, for measured time, is cheap and has no side effects."""

    def describe(self, run: Run) -> Run:
        """Add what this target knows to the description of a run."""

    def execute(self, device: str) -> Outcome:
        """Run one pass on ``cpu`` or ``cuda``, marking steps and regions on the way."""

    def time_lines(self, functions: Functions) -> tuple[LineTime, ...]:
        """Run one pass on the CPU with the lines of some functions timed."""


def parse_patches(text: str) -> tuple[int, ...]:
    """Plan steps from ``none``, ``all``, ``2``, ``1-3`` or ``1,4``."""
    if text == "none":
        return ()
    if text == "all":
        return PLAN_STEPS
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.strip().isdigit() or (dash and not last.strip().isdigit()):
            raise _patches_error(text)
        low, high = int(first), int(last) if dash else int(first)
        if low > high or low not in PLAN_STEPS or high not in PLAN_STEPS:
            raise _patches_error(text)
        chosen.update(range(low, high + 1))
    return tuple(sorted(chosen))


def require_positive(name: str, value: int, *, minimum: int = 1) -> int:
    """The value, if it is at least the minimum."""
    if value < minimum:
        raise OptionError(f"--{name} must be at least {minimum}, not {value}.")
    return value


def _patches_error(text: str) -> OptionError:
    return OptionError(
        f"--patches does not understand {text!r}. Use none, all, a step such as 2, a range such as 1-3, "
        "or a list such as 1,4; steps go from 1 to 5."
    )
