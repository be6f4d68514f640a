"""From profiles to text. Renderers are pure: they read no files, clocks or terminals."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from syncprobe.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.analysis.model import Profile

DEFAULT_WIDTH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where the text will be read."""

    width: int = DEFAULT_WIDTH
    """Columns."""
    is_coloured: bool = False


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
    "json",
    Format(summary="all there is, for machines", entry="syncprobe.rendering.json_text:render"),
)
