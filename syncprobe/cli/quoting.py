"""Lines of source for reports that quote them, from the project's own files and no others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe.findings import SourceLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.events import CallSite


def project_source() -> Callable[[CallSite], str]:
    """What gives the text of a call site in the folder that the command was given in; empty for all others."""
    return SourceLines(Path.cwd(), is_trusted=False).text
