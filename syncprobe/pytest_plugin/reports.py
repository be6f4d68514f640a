"""What recorded tests leave behind: a file per test, properties of their reports, a line at the end.

Properties travel from the workers of pytest-xdist to the terminal, and into JUnit files.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from syncprobe.rendering import figures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syncprobe.pytest_plugin.recorded_test import RecordedTest

OPTION: Final = "--syncprobe-report"
DEVICE: Final = "syncprobe_device"
EVENTS: Final = "syncprobe_events"
SYNCS: Final = "syncprobe_syncs"
OVER_BUDGET: Final = "syncprobe_over_budget"
LONGEST_NAME: Final = 150


def prepare(config: pytest.Config) -> None:
    """Make the folder for reports, if one is wanted."""
    wanted = config.getoption(OPTION)
    if wanted is None:
        return
    folder = Path(wanted).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = f"could not write to {folder}: {error.strerror}."
        raise pytest.UsageError(f"{OPTION}: {problem} Choose another folder.") from error
    # Workers of pytest-xdist get the option as it stands here, and may be somewhere else.
    config.option.syncprobe_report = str(folder)


def write(config: pytest.Config, node_id: str, recording: RecordedTest) -> None:
    """Keep the profile of a test, if that is wanted."""
    folder = config.getoption(OPTION)
    if folder is not None:
        recording.profile().save(Path(folder) / file_name(node_id))


def file_name(node_id: str) -> str:
    """A name that says which test it is, and that no other test has."""
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", node_id).strip("-.")[:LONGEST_NAME]
    unique = hashlib.sha256(node_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{unique}.json"


def note(item: pytest.Item, recording: RecordedTest) -> None:
    """Add what was recorded to the properties of a test's report."""
    item.user_properties += [
        (DEVICE, recording.device),
        (EVENTS, sum(recording.counts.values())),
        (SYNCS, recording.syncs),
        (OVER_BUDGET, recording.is_over_budget),
    ]


def summary(reports: Iterable[object]) -> str | None:
    """What was recorded, on one line; None if nothing was."""
    noted: dict[str, dict[str, Any]] = {}
    for report in reports:
        if isinstance(report, pytest.TestReport):
            properties = dict(report.user_properties)
            if DEVICE in properties:
                noted[report.nodeid] = properties
    if not noted:
        return None
    tests = noted.values()
    devices = ", ".join(sorted({each[DEVICE] for each in tests}))
    over = sum(each[OVER_BUDGET] for each in tests)
    idle = sum(not each[EVENTS] for each in tests)
    sentence = f"{figures.noun(len(noted), 'test')} recorded on {devices}, {over} over budget"
    # A budget of 0 is easy to keep where the test picked the CPU before there was a device.
    return f"{sentence}, {idle} without any event" if idle else sentence
