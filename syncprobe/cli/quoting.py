"""Lines of source for reports that quote them, from the project's own files and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.findings import SourceLines

if TYPE_CHECKING:
    from pathlib import Path

    from syncprobe.events import CallSite


class ProjectSource:
    """The text of call sites, as far as they are Python files below one folder.

    A profile may come from anybody, and a report is made to be passed on: whatever path a profile names, nothing from
    elsewhere on this machine gets into the report.

    Args:
        root: The folder that the paths of call sites are relative to.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._lines = SourceLines(self._root)
        self._is_ours: dict[str, bool] = {}

    def __call__(self, site: CallSite, /) -> str:
        """The line, without its indentation; empty if it is not the project's or cannot be read."""
        if site.path not in self._is_ours:
            self._is_ours[site.path] = self._is_below(site.path)
        return self._lines.text(site) if self._is_ours[site.path] else ""

    def _is_below(self, path: str) -> bool:
        try:
            file = (self._root / path).resolve()
            return file.suffix == ".py" and file.is_relative_to(self._root) and file.is_file()
        except (OSError, ValueError, RuntimeError):  # no name of a file at all
            return False
