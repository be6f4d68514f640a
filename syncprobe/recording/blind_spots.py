"""What a recording could not see, or not see well, so that nobody takes it for the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.profiles.host import BUSY_SHARE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.profiles.host import OwnTime
    from syncprobe.recording.session import Recording

UNUSED_DEVICE: Final = (
    "Nothing used the device. A program that chose its device before recording began, such as with "
    "torch.cuda.is_available() in a module that was imported already, chose the CPU: choose it inside."
)

DECISIVE: Final = 0.5
"""Below this share of the step, less own time would leave the answer as it is: the GPU is the problem."""
BUSY: Final = (
    "Others had the processor for {share:.0%} of the time: own code looks dearer than it is. Where the answer is "
    "close, record again when the machine is quiet."
)


def doubts(recording: Recording) -> Iterator[str]:
    """Why there are no figures at all."""
    recorder = recording.recorder
    if recording.warmup and not recorder.steps_recorded:
        made = f"{recorder.steps_started:,}" if recorder.steps_started else "none"
        yield (
            f"NOTHING RECORDED: the warm-up is {recording.warmup:,} steps, and the program made {made}. "
            f"Choose a shorter warm-up, or let it run longer."
        )


def notes(recording: Recording) -> Iterator[str]:
    """What has to be known about figures that are all zero."""
    counts = recording.counts
    is_used = any(count for kind, count in counts.items() if kind != EventKind.CONVERSION)
    if recording.device != "cpu" and not is_used and not any(doubts(recording)):
        yield UNUSED_DEVICE


def company(own: OwnTime | None, step_ms: float) -> Iterator[str]:
    """What has to be known about own time that was taken beside other processes, where it decides the answer."""
    if own and own.waited_share > BUSY_SHARE and own.ms_per_step > DECISIVE * step_ms:
        yield BUSY.format(share=own.waited_share)
