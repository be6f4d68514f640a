"""Regions and steps that user code marks; next to nothing while no recording is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from syncprobe.recording.observer import Listener


class _Nothing:
    """A context that does nothing, shared by all marks while nothing is recording."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


class _Region:
    """An open region of a recording."""

    __slots__ = ("_name", "_observer")

    def __init__(self, observer: Listener, name: str) -> None:
        self._observer = observer
        self._name = name

    def __enter__(self) -> None:
        self._observer.enter_region(self._name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._observer.leave_region()


class _Step:
    """An open step of a recording; it began when it was made."""

    __slots__ = ("_observer",)

    def __init__(self, observer: Listener) -> None:
        self._observer = observer

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._observer.end_step()


_NOTHING: Final = _Nothing()
_active: Listener | None = None


def activate(observer: Listener | None) -> None:
    """Let the marks speak to an observer, or to nobody."""
    global _active  # noqa: PLW0603  # one recording per process, and marks must find it cheaply
    _active = observer


def active() -> Listener | None:
    """Who listens in this process."""
    return _active


def region(name: str) -> AbstractContextManager[None]:
    """Charge what happens inside the ``with`` block to a region, such as ``act`` or ``learn``."""
    observer = _active
    return _NOTHING if observer is None else _Region(observer, name)


def step() -> AbstractContextManager[None]:
    """Begin a training step, now.

    Used as ``with syncprobe.step(): ...`` the step ends with the block; called alone at the top of a loop
    it ends where the next one begins.
    """
    observer = _active
    if observer is None:
        return _NOTHING
    observer.begin_step()
    return _Step(observer)
