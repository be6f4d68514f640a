"""Fixtures of the patch tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import patches
from tests.legacy import golden


@pytest.fixture(scope="session")
def tally() -> golden.Tally:
    return golden.Tally(golden.detect_mode())


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    with golden.one_thread():
        yield


@pytest.fixture(autouse=True)
def _nothing_stays_applied() -> Iterator[None]:
    yield
    assert patches.current_settings() is None, "a test left patches applied"
