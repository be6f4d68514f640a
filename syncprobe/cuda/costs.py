"""Modelled time: a host clock that issues work and a device clock that runs it in order."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind

if TYPE_CHECKING:
    from syncprobe.cuda.specs import DeviceSpec

_LAUNCH: Final = EventKind.LAUNCH
_ALLOCATION: Final = EventKind.ALLOCATION
_CONVERSION: Final = EventKind.CONVERSION
"""Looking a member up in its class takes as long as all the rest."""


class TwoClocks:
    """Advances a host and a device clock, event by event, as a given device would.

    The host clock runs with measured host time and pays for issuing operations. The device clock runs
    operations one after the other. A blocking event sets the host to the later of the two clocks plus
    the transfer itself.
    """

    __slots__ = ("_kernel_ns", "_launch_ns", "_spec", "device_ns", "host_ns")

    def __init__(self, spec: DeviceSpec) -> None:
        self._spec = spec
        self._launch_ns = spec.launch_us * 1e3
        # A program launches the same few sizes again and again.
        self._kernel_ns = lru_cache(maxsize=4096)(spec.kernel_ns)
        self.host_ns = 0.0
        self.device_ns = 0.0
        """When the device will have finished all that was issued."""

    def host(self, elapsed_ns: int) -> None:
        """The program ran on the host for this long."""
        self.host_ns += elapsed_ns

    def event(
        self, kind: EventKind, is_blocking: bool, nbytes: int, flops: int
    ) -> tuple[float, float, float]:
        """Advance by one event.

        Returns:
            The host time that the event cost, the part of it spent waiting for the device and for the
            transfer, and the time the device will work for it, in nanoseconds.
        """
        if kind is _LAUNCH:
            return self.launch(nbytes, flops)
        if kind is _ALLOCATION or kind is _CONVERSION:
            # The caching allocator is cheap; a conversion is host work, already in the measured host time.
            return 0.0, 0.0, 0.0
        if not is_blocking:
            self.host_ns += self._launch_ns
            duration_ns = self._spec.transfer_ns(nbytes, is_pinned=True)
            return self._launch_ns, 0.0, self._run(duration_ns)
        return self._wait(kind, nbytes)

    def launch(self, nbytes: int, flops: int) -> tuple[float, float, float]:
        """Advance by one operation; as `event`, for the kind that is by far the most frequent."""
        launch_ns = self._launch_ns
        host_ns = self.host_ns = self.host_ns + launch_ns
        duration_ns = self._kernel_ns(nbytes, flops)
        if self.device_ns < host_ns:
            self.device_ns = host_ns + duration_ns
        else:
            self.device_ns += duration_ns
        return launch_ns, 0.0, duration_ns

    def _wait(self, kind: EventKind, nbytes: int) -> tuple[float, float, float]:
        """Hold the host until the device has finished, and then for the transfer itself."""
        waited = max(0.0, self.device_ns - self.host_ns)
        if kind is EventKind.EXPLICIT_SYNC:
            moved, busy = self._spec.synchronize_us * 1e3, 0.0
        else:
            moved = self._spec.transfer_ns(nbytes, is_pinned=False)
            busy = nbytes / self._spec.pageable_gb_per_s
        self.host_ns += waited + moved
        self.device_ns = self.host_ns
        return waited + moved, waited + moved, busy

    def _run(self, duration_ns: float) -> float:
        self.device_ns = max(self.device_ns, self.host_ns) + duration_ns
        return duration_ns
