"""Fixtures of the golden replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.legacy.fingerprint import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    with one_thread():
        yield
