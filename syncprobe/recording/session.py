"""A recording: torch is watched inside the ``with`` block and left as it was found after it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

from syncprobe.clock import SystemClock
from syncprobe.errors import SyncprobeError
from syncprobe.recording import marks
from syncprobe.recording.callsite import CallSiteFinder
from syncprobe.recording.recorder import Recorder
from syncprobe.registry import Registry

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import TracebackType

    from syncprobe.analysis.model import Profile
    from syncprobe.clock import Clock
    from syncprobe.events import Event, Sink

AUTOMATIC: Final = "auto"


class AlreadyRecordingError(SyncprobeError):
    """A recording inside another one."""

    def __init__(self) -> None:
        super().__init__(
            "A recording is open already in this process; leave its 'with' block before opening another."
        )


def _simulated(sink: Sink) -> AbstractContextManager[object]:
    from syncprobe.simgpu import SimulatedDevice  # torch is imported only to record

    return SimulatedDevice(sink)


def _host(sink: Sink) -> AbstractContextManager[object]:
    from syncprobe.recording.host import host_watched  # torch is imported only to record

    return host_watched(sink)


def _cuda(sink: Sink) -> AbstractContextManager[object]:
    from syncprobe.recording.cuda import cuda_watched  # torch is imported only to record

    return cuda_watched(sink)


def _handover_ns() -> int:
    from syncprobe.simgpu.handover import handover_ns  # torch is imported only to record

    return handover_ns()


DEVICES: Registry[Callable[[Sink], AbstractContextManager[object]]] = Registry("device")
DEVICES.add("sim", _simulated)
DEVICES.add("cpu", _host)
DEVICES.add("cuda", _cuda)


def resolve_device(name: str) -> str:
    """The device that ``auto`` stands for here; other names are checked and given back."""
    if name == AUTOMATIC:
        import torch  # only this question needs it

        return "cuda" if torch.cuda.is_available() else "sim"
    if name not in DEVICES:
        DEVICES[name]  # raises the error that suggests a name
    return name


class Recording:
    """Records what a program does between host and device.

    Args:
        device: ``sim`` (torch gets a simulated CUDA device), ``cuda`` (a real one), ``cpu`` (no
            device: only conversions can be seen), or ``auto``: ``cuda`` where there is one, else ``sim``.
        gpu: Device spec for modelled time, such as ``t4``.
        warmup: Marked steps to let pass before recording.
        steps: Marked steps to record; None records all.
        max_events: How many single events to keep beside the sums; None keeps all.
        root: Folder that paths are shown relative to; the working directory by default.
        clock: Measures host time.
        on_step: Told how many steps, warm-up included, have begun before each one.
    """

    def __init__(
        self,
        *,
        device: str = AUTOMATIC,
        gpu: str = "t4",
        warmup: int = 0,
        steps: int | None = None,
        max_events: int | None = 10_000,
        root: Path | None = None,
        clock: Clock | None = None,
        on_step: Callable[[int], None] | None = None,
    ) -> None:
        from syncprobe.simgpu.costs import TwoClocks  # its package imports torch
        from syncprobe.simgpu.specs import SPECS  # its package imports torch

        self.device = resolve_device(device)
        self.gpu = SPECS[gpu]
        self.root = root
        self.warmup = warmup
        self._finder = CallSiteFinder(root)
        self._recorder = Recorder(
            self._finder,
            clock or SystemClock(),
            TwoClocks(self.gpu) if self.device == "sim" else None,
            max_events=max_events,
            warmup=warmup,
            max_steps=steps,
            on_step=on_step,
            handover_ns=_handover_ns() if self.device == "sim" else 0,
        )
        self._undo: ExitStack | None = None

    def __enter__(self) -> Self:
        if marks.active() is not None:
            raise AlreadyRecordingError
        with ExitStack() as undo:
            undo.callback(setattr, self._finder, "outermost", None)
            self._finder.outermost = sys._getframe(1)
            undo.callback(marks.activate, None)
            marks.activate(self._recorder)
            undo.enter_context(DEVICES[self.device](self._recorder))
            self._recorder.resume()
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._undo is not None, "left without being entered"
        self._recorder.close()
        self._undo.__exit__(kind, error, traceback)
        self._undo = None

    def step(self) -> AbstractContextManager[None]:
        """Begin a training step; see :func:`syncprobe.step`."""
        return marks.step()

    def region(self, name: str) -> AbstractContextManager[None]:
        """Charge what happens inside to a region; see :func:`syncprobe.region`."""
        return marks.region(name)

    @property
    def recorder(self) -> Recorder:
        """The sums as they stand, for analysis."""
        return self._recorder

    @property
    def counts(self) -> Counter[str]:
        """Events by kind; kinds that never happened count 0."""
        return self._recorder.counts

    @property
    def syncs(self) -> int:
        """How often the host had to wait for the device."""
        return sum(entry.count for entry in self._recorder.sums if entry.is_blocking)

    @property
    def events(self) -> tuple[Event, ...]:
        """Single events in order, the first ``max_events`` of them."""
        return self._recorder.events

    @property
    def events_dropped(self) -> int:
        """How many events were summed but not kept singly."""
        return self._recorder.events_dropped

    def profile(self) -> Profile:
        """What was recorded so far, as a profile."""
        from syncprobe.profiling import profile_of  # it builds on this module

        return profile_of(self)
