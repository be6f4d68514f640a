"""Values that a program hands over; next to nothing while nobody listens."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_listener: Callable[[str, Any], None] | None = None


def observe(name: str, value: Any) -> None:
    """Hand over a value, such as actions or a reward, for equivalence checks.

    It stays on its device until the run is over, so observing is no sync.

    Args:
        name: What it is called in comparisons; the same name may be used again and again.
        value: A tensor, an array or a number.
    """
    if _listener is not None:
        _listener(name, value)


@contextmanager
def heard(listener: Callable[[str, Any], None]) -> Iterator[None]:
    """While open, somebody listens."""
    global _listener  # noqa: PLW0603  # one run per process, and programs must find it cheaply
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before
