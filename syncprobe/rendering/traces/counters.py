"""How the totals of a modelled step grow: syncs, bytes moved, and work the device has still to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syncprobe.events import TO_HOST, EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.profiles.model import Timeline


def counters(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """Counter events in Chrome's format, each counter in the order of time."""
    yield from _syncs(timeline)
    yield from _bytes(timeline)
    yield from _queue(timeline)


def _syncs(timeline: Timeline) -> Iterator[dict[str, Any]]:
    blocking = sorted(span.start_us + span.host_us for span in timeline.spans if span.is_blocking)
    yield _counter("syncs so far", 0.0, syncs=0)
    for number, end_us in enumerate(blocking, start=1):
        yield _counter("syncs so far", end_us, syncs=number)


def _bytes(timeline: Timeline) -> Iterator[dict[str, Any]]:
    to_host = to_device = 0
    yield _counter("bytes moved so far", 0.0, to_host=0, to_device=0)
    for span in sorted(timeline.spans, key=lambda span: span.start_us):
        if span.kind in TO_HOST:
            to_host += span.nbytes
        elif span.kind is EventKind.COPY_TO_DEVICE:
            to_device += span.nbytes
        else:
            continue
        yield _counter("bytes moved so far", span.start_us, to_host=to_host, to_device=to_device)


def _queue(timeline: Timeline) -> Iterator[dict[str, Any]]:
    busy = [span for span in timeline.spans if span.device_us > 0]
    changes = [(span.start_us, 1) for span in busy]
    changes += [(max(span.device_start_us + span.device_us, span.start_us), -1) for span in busy]
    depth = 0
    yield _counter("device queue depth", 0.0, waiting=0)
    # At equal times what is issued comes first: nothing ends before it was there.
    for at_us, change in sorted(changes, key=lambda entry: (entry[0], -entry[1])):
        depth += change
        yield _counter("device queue depth", at_us, waiting=depth)


def _counter(name: str, at_us: float, **values: int) -> dict[str, Any]:
    return {"ph": "C", "name": name, "ts": round(at_us * 1e3) / 1e3, "args": values}
