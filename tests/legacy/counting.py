"""Counts what the golden replays compare, over all workers, and says so in the summary."""

from __future__ import annotations

from typing import Any

import pytest

from tests.legacy.tally import Tally

TALLY = pytest.StashKey[Tally]()
WORKER_KEY = "golden_tally"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Tally()


@pytest.fixture
def tally(pytestconfig: pytest.Config) -> Tally:
    """What the session has compared so far."""
    return pytestconfig.stash[TALLY]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist hands its count to the controller."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[WORKER_KEY] = session.config.stash[TALLY].as_data()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    counted = getattr(node, "workeroutput", {}).get(WORKER_KEY)
    if counted:
        node.config.stash[TALLY].add(counted)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tally = config.stash[TALLY]
    if tally.files:
        terminalreporter.write_line(tally.summary())
