"""Spawned processes are recorded like the program itself, and their records are brought home."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from syncprobe.errors import SyncprobeError
from syncprobe.files import write_text
from syncprobe.recording.automatic.finder import EnoughSteps
from syncprobe.recording.processes.record import ProcessRecord, record_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.recording.session import Recording

BROUGHT: Final = "The program spawned {count}. What {they} did on the device is in this profile."
MISSING: Final = (
    "The program spawned {count}, and {missing} left no record, because of being killed or still running: "
    "what was done there is not in this profile."
)


class SpawnedRecording:
    """The recording of a process that the program spawns; it is made here and opened there.

    Args:
        folder: Where to leave the record.
        options: What :class:`~syncprobe.recording.session.Recording` is made with.
    """

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        self._folder = folder
        self._options = dict(options)
        self._recording: Recording | None = None

    def begin(self) -> None:
        """Give the process a device that is watched."""
        from syncprobe.recording.session import Recording  # it makes these

        self._recording = Recording(**self._options, max_events=0)
        self._recording.__enter__()

    def run(self, call: Callable[[], object]) -> None:
        """Run what the process is for, until all steps that are wanted are over."""
        with suppress(EnoughSteps):
            call()

    def end(self) -> None:
        """Leave the record behind."""
        assert self._recording is not None, "begun before"
        self._recording.__exit__(None, None, None)
        if not self._folder.is_dir():
            return  # Whoever asked for it is gone.
        text = msgspec.json.encode(record_of(self._recording)).decode()
        with suppress(SyncprobeError):
            write_text(self._folder / f"{os.getpid()}.json", text)


@dataclass(slots=True)
class Nursery:
    """Hands out recordings to spawned processes, and collects what they left."""

    options: Mapping[str, Any]
    """What their recordings are made with: as the program's own."""
    started: int = 0
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def another(self) -> SpawnedRecording:
        """The recording for one more process."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="syncprobe-")
        self.started += 1
        return SpawnedRecording(Path(self._folder.name), self.options)

    def collect(self) -> tuple[ProcessRecord, ...]:
        """The records that are there, in the order of process numbers."""
        if self._folder is None:
            return ()
        with self._folder as name:
            files = sorted(Path(name).glob("*.json"), key=lambda file: int(file.stem))
            records = [msgspec.json.decode(file.read_bytes(), type=ProcessRecord) for file in files]
        self._folder = None
        return tuple(records)

    def note(self, brought: int) -> str:
        """What to say about them."""
        count = "one process" if self.started == 1 else f"{self.started} processes"
        if brought == self.started:
            return BROUGHT.format(count=count, they="it" if brought == 1 else "they")
        missing = "it" if self.started == 1 else f"{self.started - brought} of them"
        return MISSING.format(count=count, missing=missing)
