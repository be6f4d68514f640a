"""Reads a trace file of torch.profiler. What cannot be an event is counted, never trusted."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from syncprobe.errors import SyncprobeError
from syncprobe.files import refuse_pipe

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_BYTES: Final = 2**31
MAX_US: Final = 1e17
"""Three thousand years: no clock counts further."""
MAX_COUNT: Final = 2**62
GZIP_MAGIC: Final = b"\x1f\x8b"
HOW_TO: Final = (
    "Record one with torch.profiler.profile(with_stack=True) and its export_chrome_trace()."
)
OPERATOR: Final = "cpu_op"
RUNTIME: Final = "cuda_runtime"
KERNEL: Final = "kernel"
COPY: Final = "gpu_memcpy"
FILL: Final = "gpu_memset"
FRAME: Final = "python_function"
ANNOTATION: Final = "user_annotation"
CATEGORIES: Final[Mapping[str, str]] = {
    **{name: name for name in (OPERATOR, RUNTIME, KERNEL, COPY, FILL, FRAME, ANNOTATION)},
    # Libraries launch through the driver themselves; old releases had other names.
    "cuda_driver": RUNTIME,
    "runtime": RUNTIME,
    "operator": OPERATOR,
    "memcpy": COPY,
    "memset": FILL,
}
"""The categories that are read, in lower case."""


class TraceFormatError(SyncprobeError):
    """A file that is no trace of torch.profiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """Something that took time, on a thread of the host or on a stream of the device."""

    category: str
    name: str
    thread: str
    start_ns: int
    end_ns: int
    correlation: int | None
    """Shared by a call on the host and what it made the device do."""
    nbytes: int
    call_stack: str
    """Frames that old releases wrote into the operation itself, innermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFile:
    """What a trace file holds."""

    events: Mapping[str, tuple[TraceEvent, ...]]
    """By category, in the order of time, outer before inner."""
    device_name: str
    malformed: int
    """Entries that look like events but cannot be."""

    def of(self, category: str) -> tuple[TraceEvent, ...]:
        """The events of a category."""
        return self.events.get(category, ())

    @property
    def has_device(self) -> bool:
        """Something in it happened on a device, or was asked of one."""
        return any(self.of(category) for category in (RUNTIME, KERNEL, COPY, FILL))


def read(path: Path) -> TraceFile:
    """Read a trace, plain or compressed.

    Raises:
        SyncprobeError: The file cannot be read, or is no such trace.
    """
    try:
        document = json.loads(_text(path), strict=False)
    except RecursionError as error:
        raise TraceFormatError(f"{path} is nested too deeply to be a trace. {HOW_TO}") from error
    except ValueError as error:
        raise TraceFormatError(
            f"{path} is not valid JSON ({error}): it may be cut off. {HOW_TO}"
        ) from error
    entries = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise TraceFormatError(f"{path} is no trace: it has no list of 'traceEvents'. {HOW_TO}")
    trace = _trace(entries, _device_name(document))
    if not trace.events:
        raise TraceFormatError(f"{path} holds nothing that torch.profiler recorded. {HOW_TO}")
    return trace


def _text(path: Path) -> str:
    refuse_pipe(path)
    try:
        with path.open("rb") as stream:
            is_compressed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            stream.seek(0)
            content = (gzip.GzipFile(fileobj=stream) if is_compressed else stream).read(
                MAX_BYTES + 1
            )
    except FileNotFoundError:
        raise SyncprobeError(f"There is no file {path}. {HOW_TO}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TraceFormatError(f"{path} is compressed and damaged ({error}).") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SyncprobeError(f"Could not read {path}: {reason}.") from error
    if len(content) > MAX_BYTES:
        raise TraceFormatError(f"{path} holds over 2 GiB of text. Record fewer steps.")
    return content.decode("utf-8", "replace")


def _trace(entries: list[Any], device_name: str) -> TraceFile:
    events: dict[str, list[TraceEvent]] = {}
    malformed = 0
    # Taken from the end and let go of: a large trace should not be in memory twice.
    entries.reverse()
    while entries:
        entry = entries.pop()
        category = _category(entry)
        if category is None:
            continue
        event = _event(entry, category)
        if event is None:
            malformed += 1
        else:
            events.setdefault(category, []).append(event)
    return TraceFile(
        events={
            category: tuple(sorted(found, key=lambda event: (event.start_ns, -event.end_ns)))
            for category, found in events.items()
        },
        device_name=device_name,
        malformed=malformed,
    )


def _category(entry: object) -> str | None:
    if not isinstance(entry, dict) or entry.get("ph") != "X":
        return None
    category = entry.get("cat")
    return CATEGORIES.get(category.lower()) if isinstance(category, str) else None


def _event(entry: dict[str, Any], category: str) -> TraceEvent | None:
    name, start, duration = entry.get("name"), entry.get("ts"), entry.get("dur", 0)
    start_us, duration_us = _microseconds(start), _microseconds(duration)
    if not isinstance(name, str) or start_us is None or duration_us is None or duration_us < 0:
        return None
    arguments = entry.get("args")
    arguments = arguments if isinstance(arguments, dict) else {}
    start_ns = round(start_us * 1e3)
    call_stack = arguments.get("Call stack")
    return TraceEvent(
        category=category,
        name=name,
        thread=f"{entry.get('pid')}/{entry.get('tid')}",
        start_ns=start_ns,
        end_ns=start_ns + round(duration_us * 1e3),
        correlation=_count(arguments.get("correlation")),
        nbytes=_count(arguments.get("bytes")) or 0,
        call_stack=call_stack if isinstance(call_stack, str) else "",
    )


def _microseconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < MAX_US else None


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < MAX_COUNT else None


def _device_name(document: object) -> str:
    properties = document.get("deviceProperties") if isinstance(document, dict) else None
    first = properties[0] if isinstance(properties, list) and properties else None
    name = first.get("name") if isinstance(first, dict) else None
    return name if isinstance(name, str) else ""
