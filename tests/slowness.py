"""Which cases of a test every run makes, and which wait for ``make test-all``."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def slow_unless(is_quick: Callable[..., bool], cases: Iterable[Any]) -> list[Any]:
    """The cases, those marked ``slow`` that are not quick; a tuple is handed over as several arguments."""
    return [
        _marked(case, is_quick(*case) if isinstance(case, tuple) else is_quick(case))
        for case in cases
    ]


def is_in_share(name: str, *, one_in: int) -> bool:
    """Whether a name is among those of a share that has nothing in common but chance."""
    return zlib.crc32(name.encode()) % one_in == 0


def _marked(case: Any, is_quick: bool) -> Any:
    marks = () if is_quick else (pytest.mark.slow,)
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=marks)
