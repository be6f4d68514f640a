"""How far a run has come: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Final

from syncprobe.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from syncprobe.targets.running import Progress as Listener

REFRESH_SECONDS: Final = 0.1


@contextlib.contextmanager
def shown() -> Iterator[Listener]:
    """While open, what the listener hears is shown on standard error."""
    if not sys.stderr.isatty():
        yield PlainLines()
        return
    with _bar() as progress:
        yield Bar(progress)


class PlainLines:
    """Says when a phase begins, for logs."""

    def __init__(self) -> None:
        self._phase = ""

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Speak once per phase."""
        if phase != self._phase:
            self._phase = phase
            so_far = f": {done} of {total} steps" if total else ""
            say(f"{phase}{so_far}")


class Bar:
    """Moves a bar, redrawn only between steps: a drawing thread would show up in measured time."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._phase = ""
        self._drawn = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Show how much of the phase is done."""
        if phase != self._phase:
            self._phase = phase
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(phase, total=total or None)
            self._drawn = 0.0
        assert self._task is not None, "a phase has a task"
        self._progress.update(self._task, completed=done)
        now = time.monotonic()
        if now - self._drawn >= REFRESH_SECONDS:
            self._drawn = now
            self._progress.refresh()


def _bar() -> Progress:
    from rich.console import Console  # rich takes time to load
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        # The program's own output is its own business.
        redirect_stdout=False,
        redirect_stderr=False,
    )
