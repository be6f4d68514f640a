"""From profiles to text. Renderers are pure: they read no files, clocks or terminals."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from syncprobe.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.events import CallSite
    from syncprobe.profiles.model import Profile

DEFAULT_WIDTH: Final = 100


class SourceText(Protocol):
    """Knows what lines of source say."""

    def __call__(self, site: CallSite, /) -> str:
        """The line, without its indentation; empty if it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where the text will be read."""

    width: int = DEFAULT_WIDTH
    """Columns."""
    is_coloured: bool = False
    is_full: bool = False
    """For the console: the evidence too, not only the answer."""
    source: SourceText | None = None
    """For formats that quote lines of source; None quotes none."""


class Render(Protocol):
    """Turns profiles into the text of one format."""

    def __call__(self, profiles: Sequence[Profile], page: Page, /) -> str:
        """The text, ending in a line break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One way to show profiles."""

    summary: str
    entry: str
    """``module:function`` of a `Render`, imported when used: rich and its like take time to load."""

    def render(self, profiles: Sequence[Profile], page: Page | None = None) -> str:
        """The profiles in this format."""
        module, _, function = self.entry.partition(":")
        render = cast("Render", getattr(importlib.import_module(module), function))
        return render(profiles, page or Page())


FORMATS: Registry[Format] = Registry("report format")
FORMATS.add("console", Format(summary="for a terminal", entry="syncprobe.rendering.console:render"))
FORMATS.add(
    "md",
    Format(summary="Markdown, for a pull request", entry="syncprobe.rendering.markdown:render"),
)
FORMATS.add(
    "html",
    Format(
        summary="a page with charts and a timeline, for a browser",
        entry="syncprobe.rendering.html.page:render",
    ),
)
FORMATS.add(
    "json",
    Format(summary="all there is, for machines", entry="syncprobe.rendering.json_text:render"),
)
FORMATS.add(
    "sarif",
    Format(summary="SARIF, for code scanning", entry="syncprobe.rendering.sarif:render"),
)
FORMATS.add(
    "perfetto",
    Format(
        summary="the modelled step, for ui.perfetto.dev",
        entry="syncprobe.rendering.traces.perfetto:render",
    ),
)
FORMATS.add(
    "speedscope",
    Format(
        summary="flame graphs, for speedscope.app",
        entry="syncprobe.rendering.traces.speedscope:render",
    ),
)
