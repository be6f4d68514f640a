"""What a target is, and what is known after it has run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from syncprobe.errors import SyncprobeError, did_you_mean
from syncprobe.plan_steps import ChoiceError, chosen_numbers
from syncprobe.recording.automatic.finder import CHOICES

if TYPE_CHECKING:
    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.profiles.model import Digest, Run


class OptionError(SyncprobeError):
    """An option with a value it cannot have, or one that the target does not take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a pass of a target ended, and what it computed."""

    digest: Digest | None = None
    exit_code: int = 0
    interruption: str | None = None
    """Why the program did not run to its end; None if it did, or was asked not to."""
    was_ended: bool = False
    """It was ended after the last step that was asked for."""
    left: object = field(default=None, repr=False, compare=False)
    """What a user's program left behind, which keeps its parameters alive until they are looked at."""


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
    def step_on(self) -> str | None:
        """What a step is where the program marks none; None if it marks all that there is to mark."""

    @property
    def root(self) -> Path:
        """The folder that its source paths are relative to."""

    @property
    def own(self) -> Path:
        """The user's own project, to which lines of libraries are rolled up."""

    @property
    def is_timed_by_default(self) -> bool:
        """Running it a second time, for measured time, is cheap and has no side effects."""

    @property
    def sampled(self) -> Target:
        """What to run for samples of where own time goes: this, or less of it if that tells as much."""

    def describe(self, run: Run) -> Run:
        """Add what this target knows to the description of a run."""

    def execute(self, device: str) -> Outcome:
        """Run one pass on ``cpu`` or ``cuda``, marking steps and regions on the way."""

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:
        """Run one pass on ``cpu`` or ``cuda`` with the lines of some functions timed."""


def parse_patches(text: str) -> tuple[int, ...]:
    """Numbers of the plan steps that an option or a budget asks for."""
    try:
        return chosen_numbers(text)
    except ChoiceError as error:
        raise OptionError(f"--patches does not understand {text!r}. {error.hint}") from None


def parse_step_on(text: str) -> str:
    """What a step is."""
    if text not in CHOICES:
        hint = did_you_mean(text, CHOICES, f"Choose from: {', '.join(CHOICES)}.")
        raise OptionError(f"--step-on does not understand {text!r}. {hint}")
    return text


def parse_number(text: str | float) -> float:
    """A number that need not be whole."""
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{text!r} is no number.") from None


def parse_tuning(text: str) -> str | None:
    """The name of a tuning profile; none is what there is without the option."""
    return None if text == "none" else text


def existing(own: str | None) -> Path | None:
    """The folder or file that ``--own`` names; None if it was not given."""
    if own is None:
        return None
    if not Path(own).exists():
        raise OptionError(f"--own names {own!r}, which is not there. Give a folder or a file.")
    return Path(own).resolve()


def require_positive(name: str, value: int, *, minimum: int = 1) -> int:
    """The value, if it is at least the minimum."""
    if value < minimum:
        raise OptionError(f"--{name} must be at least {minimum}, not {value}.")
    return value
