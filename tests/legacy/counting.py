"""Counts what the golden replays compare, over all workers, and says so in the summary."""

from __future__ import annotations

from typing import Any

import pytest

from tests.legacy import golden

TALLY = pytest.StashKey[golden.Tally]()
WORKER_KEY = "golden_tally"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = golden.Tally(mode=golden.detect_mode())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist hands its count to the controller."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        own = session.config.stash[TALLY]
        output[WORKER_KEY] = {
            "arrays": own.arrays,
            "values": own.values,
            "files": sorted(own.files),
        }


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    counted = getattr(node, "workeroutput", {}).get(WORKER_KEY)
    if counted:
        total = node.config.stash[TALLY]
        total.arrays += counted["arrays"]
        total.values += counted["values"]
        total.files |= set(counted["files"])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tally = config.stash[TALLY]
    if tally.arrays:
        terminalreporter.write_line(tally.summary())
