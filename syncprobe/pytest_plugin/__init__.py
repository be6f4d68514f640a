"""The pytest plugin: a marker, a fixture and two options over the same recordings as everywhere else.

It does nothing, and imports no torch, until a test asks for it.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from syncprobe.config import CHOICES, resolve
from syncprobe.errors import SyncprobeError
from syncprobe.pytest_plugin import reports, speed

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from syncprobe.config import Settings
    from syncprobe.pytest_plugin.recorded_test import RecordedTest

NAME: Final = "syncprobe"
"""Of the marker, of the fixture and of the plugin."""
MARKER_HELP: Final = (
    "syncprobe(per=None, **limits): record the test, and fail it if it does more than the limits allow, "
    "such as syncs=1 or launches=20; per='step' or 'test'"
)

_RECORDED: Final[pytest.StashKey[RecordedTest]] = pytest.StashKey()
_SETTINGS: Final[pytest.StashKey[Settings]] = pytest.StashKey()


class EntryPoint:
    """What the installed entry point loads: the plugin, unless it was named with ``-p`` already."""

    @staticmethod
    def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
        """Hand over to the module."""
        # pytest refuses a module that it knows under another name, and a conftest may have named this one.
        if not pluginmanager.hasplugin(__name__):
            pluginmanager.register(sys.modules[__name__], __name__)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup(NAME, "syncprobe: host/device synchronisations")
    group.addoption(
        "--syncprobe-device",
        choices=CHOICES["device"],
        help="Where recorded tests run; auto, the default, is CUDA where there is one, else simulated.",
    )
    group.addoption(
        reports.OPTION,
        metavar="DIR",
        help="Write the profile of every recorded test to this folder, as JSON.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and the fixture for speed, and make sure that reports can be written."""
    config.addinivalue_line("markers", MARKER_HELP)
    speed.register(config.pluginmanager)
    reports.prepare(config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse limits and settings that mean nothing before any test runs, each of them once."""
    report = yield
    problems: dict[str, str] = {}
    for node in report.result or ():
        if isinstance(node, pytest.Item):
            try:
                _prepare(node)
            except SyncprobeError as error:
                problems.setdefault(str(error), node.nodeid)
    if problems:
        # Unlike a usage error, a failed collection also finds its way out of pytest-xdist's workers.
        report.outcome, report.result = "failed", []
        report.longrepr = "\n".join(f"{test}: {problem}" for problem, test in problems.items())
    return report


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Record the call of a test that is marked or has the fixture, and hold it to its marker."""
    marker = item.get_closest_marker(NAME)
    if marker is None and _RECORDED not in item.stash:
        return (yield)
    with ExitStack() as undo:
        recording = item.stash.get(_RECORDED, None) or undo.enter_context(_recorded(item))
        undo.callback(reports.note, item, recording)
        with _called_directly(item, recording):
            result = yield
        # unittest reports a failure of its own without raising it here.
        if marker is not None and recording.interruption is None:
            _hold_to(recording, marker)
    return result


@pytest.fixture(name=NAME)
def recording_of_the_test(request: pytest.FixtureRequest) -> Iterator[RecordedTest]:
    """The recording of this test: step(), region(name), counts, syncs, profile(), check(syncs=1)."""
    item: pytest.Item = request.node
    if _RECORDED in item.stash:
        yield item.stash[_RECORDED]
        return
    with _recorded(item) as recording:
        yield recording


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say on one line what was recorded, if anything was."""
    sentence = reports.summary(
        report for reports in terminalreporter.stats.values() for report in reports
    )
    if sentence is not None:
        terminalreporter.write_line(f"{NAME}: {sentence}")


@contextmanager
def _recorded(item: pytest.Item) -> Iterator[RecordedTest]:
    """The one recording of a test, known to all who ask for it; its profile is kept if reports are."""
    from syncprobe.pytest_plugin.recorded_test import (
        RecordedTest,  # only tests that are recorded need it
    )

    config = item.config
    with ExitStack() as undo:
        try:
            recording = RecordedTest(item.nodeid, config.stash[_SETTINGS], config.rootpath)
            undo.enter_context(recording)
        except SyncprobeError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        item.stash[_RECORDED] = recording
        try:
            yield recording
        finally:
            undo.close()
            del item.stash[_RECORDED]
            reports.write(config, item.nodeid, recording)


@contextmanager
def _called_directly(item: pytest.Item, recording: RecordedTest) -> Iterator[None]:
    """Leave pytest's own frames out of the recording."""
    if not isinstance(item, pytest.Function):
        yield
        return
    test = item.obj
    item.obj = recording.called_from_here(test)
    try:
        yield
    finally:
        item.obj = test


def _hold_to(recording: RecordedTest, marker: pytest.Mark) -> None:
    from syncprobe.pytest_plugin.recorded_test import parse_allowance  # likewise

    complaint = recording.complaint(parse_allowance(marker.kwargs))
    if complaint is not None:
        recording.is_over_budget = True
        pytest.fail(complaint, pytrace=False)


def _prepare(item: pytest.Item) -> None:
    """Look at all that a test will need if it is to be recorded."""
    marker = item.get_closest_marker(NAME)
    if marker is None and NAME not in getattr(item, "fixturenames", ()):
        return
    if _SETTINGS not in item.config.stash:
        flags = {"device": item.config.getoption("syncprobe_device")}
        item.config.stash[_SETTINGS] = resolve(item.config.rootpath, os.environ, flags)
    if marker is not None:
        _check(marker)


def _check(marker: pytest.Mark) -> None:
    from syncprobe.pytest_plugin.recorded_test import parse_allowance  # likewise

    if marker.args:
        raise SyncprobeError(
            f"@pytest.mark.{NAME} takes limits by name, such as syncs=1, not {marker.args[0]!r}."
        )
    parse_allowance(marker.kwargs)
