"""A real browser, and pages opened in it that may load nothing and complain about nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SCHEMES = ("light", "dark")
PATIENCE_MS = 600_000
"""However busy the machine is: what is waited for are events."""
sync_api.expect.set_options(timeout=120_000)  # what a page shows in the end, however late


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser found: none of {', '.join(NAMES)} is installed")
    with sync_api.sync_playwright() as playwright:
        # Each launch has a profile folder of its own, which is removed afterwards.
        started = playwright.chromium.launch(
            executable_path=found, args=list(ARGUMENTS), timeout=PATIENCE_MS
        )
        yield started
        started.close()


@dataclass(kw_only=True)  # no slots: playwright keeps notes on whom it calls
class Visit:
    """One page in the browser, and everything that went wrong or out while it was open."""

    page: sync_api.Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: sync_api.Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@pytest.fixture
def visit(browser):
    """Opens a file, waits until all is drawn, and checks at the end that nothing was out of order."""
    contexts, visits = [], []

    def open_page(file: Path, width: int = 1280, scheme: str = "light") -> Visit:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        made = Visit(page=context.new_page())
        made.listen()
        visits.append((file, made))
        made.page.goto(file.as_uri())
        made.page.wait_for_selector("html[data-ready]")
        return made

    yield open_page
    for file, made in visits:
        assert made.complaints == []
        assert made.dialogs == []
        assert set(made.requests) == {file.as_uri()}
    for context in contexts:
        context.close()
