"""Fixtures of the golden replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.legacy import golden
from tests.legacy.counting import TALLY

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> golden.Tally:
    return request.config.stash[TALLY]


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    with golden.one_thread():
        yield
