"""Steps and regions of programs that mark none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from syncprobe.recording import marks
from syncprobe.recording.automatic.finder import StepFinder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.recording.observer import Observer


@contextmanager
def steps_told(
    observer: Observer, step_on: str | None, *, ends_program: bool = False
) -> Iterator[StepFinder | None]:
    """Tell an observer of the steps and regions of what runs meanwhile.

    Args:
        observer: Who is told.
        step_on: What a step is; None tells of marks only, as they are.
        ends_program: Raise :class:`~syncprobe.recording.automatic.finder.EnoughSteps` when the observer
            has all it wants.
    """
    if step_on is None:
        marks.activate(observer)
        try:
            yield None
        finally:
            marks.activate(None)
        return
    from syncprobe.recording.automatic.hooks import watched  # torch is imported only to record

    finder = StepFinder(observer, step_on, ends_program=ends_program)
    with watched(finder):
        marks.activate(finder)
        try:
            yield finder
        finally:
            marks.activate(None)
            finder.drop_open_step()
