"""What a recording could not see, or not see well, so that nobody takes it for the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.profiles.own_time.steps import waited_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.profiles.own_time.steps import OwnStep
    from syncprobe.recording.session import Recording

UNUSED_DEVICE: Final = (
    "Nothing used the device. A program that chose its device before recording began, such as with "
    "torch.cuda.is_available() in a module that was imported already, chose the CPU: choose it inside."
)

BUSY_SHARE: Final = 0.3
"""A process that waits so much finds its caches emptied by others whenever it runs."""
DECISIVE: Final = 0.5
"""Below this share of the step, less own time would leave the answer as it is: the GPU is the problem."""
BUSY: Final = (
    "Other processes had the processor for {share:.0%} of a step: the machine is busy, and own code looks dearer "
    "than it is. Where the answer is close, record again when it is quiet."
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


def company(steps: Sequence[OwnStep], own_ms: float, step_ms: float) -> Iterator[str]:
    """What has to be known about own time that was taken beside other processes, where it decides the answer."""
    share = waited_share(steps)
    if share > BUSY_SHARE and own_ms > DECISIVE * step_ms:
        yield BUSY.format(share=share)
