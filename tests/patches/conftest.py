"""Fixtures of the patch tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import patches
from tests.legacy.fingerprint import one_thread


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(autouse=True)
def _nothing_stays_applied() -> Iterator[None]:
    yield
    assert patches.current_settings() is None, "a test left patches applied"
