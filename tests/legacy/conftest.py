"""Fixtures of the golden replays, and the line that says what they compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.legacy import golden

if TYPE_CHECKING:
    from collections.abc import Iterator

TALLY = pytest.StashKey[golden.Tally]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = golden.Tally(mode=golden.detect_mode())


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> golden.Tally:
    return request.config.stash[TALLY]


@pytest.fixture(autouse=True)
def _one_torch_thread() -> Iterator[None]:
    with golden.one_thread():
        yield


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tally = config.stash[TALLY]
    if tally.arrays:
        terminalreporter.write_line(tally.summary())
