"""Which cases of a test every run makes, and which wait for ``make test-all``."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_FEWER = 4
_is_short = False


def choose(expression: str) -> None:
    """Be short where slow tests are left out; ``expression`` is what pytest was told about marks."""
    global _is_short  # noqa: PLW0603  # decorators of tests are too early for anything that pytest hands out
    _is_short = "not slow" in expression


def examples(number: int) -> int:
    """How many examples hypothesis makes: all of them, or a quarter where slow tests are left out."""
    return -(-number // _FEWER) if _is_short else number


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
