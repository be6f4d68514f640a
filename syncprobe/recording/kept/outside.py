"""Measures what is in no step: before the first, between two, after the last."""

from __future__ import annotations

from syncprobe.profiles.host import Outside


class OutsideClock:
    """Hears of steps and adds up the time outside of them.

    Args:
        start_ns: When the recording began.
    """

    def __init__(self, start_ns: int) -> None:
        self._start_ns = self._end_ns = start_ns
        self._first_ns: int | None = None
        self._between_ns = 0
        self._before_step: tuple[int | None, int] = (None, 0)
        self._after_ns = 0

    def begin_step(self, at_ns: int) -> None:
        """A step begins."""
        self._before_step = (self._first_ns, self._between_ns)
        if self._first_ns is None:
            self._first_ns = at_ns
        else:
            self._between_ns += at_ns - self._end_ns

    def end_step(self, at_ns: int) -> None:
        """It is over."""
        self._end_ns = at_ns

    def drop_step(self) -> None:
        """It was none."""
        self._first_ns, self._between_ns = self._before_step

    def forget_steps(self) -> None:
        """None was one."""
        self._first_ns, self._between_ns = None, 0

    def close(self, at_ns: int) -> None:
        """The recording is over."""
        self._after_ns = at_ns - self._end_ns

    @property
    def found(self) -> Outside:
        """The times, in milliseconds."""
        first_ns = self._start_ns if self._first_ns is None else self._first_ns
        return Outside(
            before_ms=(first_ns - self._start_ns) / 1e6,
            between_ms=self._between_ns / 1e6,
            after_ms=self._after_ns / 1e6,
        )
