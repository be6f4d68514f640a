"""The only reader of source files: the line behind a call site, and the comments that excuse it."""

from __future__ import annotations

import enum
import re
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.findings.syntax import Module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.events import CallSite
    from syncprobe.findings.syntax import CodeLine

_ALLOW: Final = re.compile(r"#\s*syncprobe:\s*allow\[(?P<ids>[^\]]*)\](?P<reason>[^#]*)")


class Excuse(enum.Enum):
    """What the comments at a line say about a rule."""

    NONE = enum.auto()
    """Nothing."""
    WITHOUT_REASON = enum.auto()
    """They allow it but do not say why, which excuses nothing."""
    GIVEN = enum.auto()
    """They allow it and say why."""


class SourceLines:
    """Cached access to the text of call sites.

    Files that are missing, unreadable or not Python are no error: there is just nothing to say about their lines.

    Args:
        root: The folder that the paths of call sites are relative to; import roots are tried after it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, tuple[str, ...]] = {}
        self._modules: dict[str, Module | None] = {}
        self._lines: dict[tuple[str, int], CodeLine | None] = {}

    def text(self, site: CallSite) -> str:
        """The line as written, without its indentation; empty if it cannot be read."""
        return self.written(site).strip()

    def written(self, site: CallSite) -> str:
        """The line as written; empty if it cannot be read."""
        lines = self._text(site.path)
        return lines[site.line - 1] if 0 < site.line <= len(lines) else ""

    def line(self, site: CallSite) -> CodeLine | None:
        """The line with its statement; None if there is no source for it."""
        key = (site.path, site.line)
        if key not in self._lines:
            module = self._module(site.path)
            self._lines[key] = None if module is None else module.line(site.line)
        return self._lines[key]

    def excuse(self, site: CallSite, rule: str) -> Excuse:
        """Whether the source excuses a rule at a line.

        ``# syncprobe: allow[SP101] reason`` counts on the line itself, on another line of the same
        statement, or in the comment directly above.
        """
        found = Excuse.NONE
        for text in self._comments(site):
            for match in _ALLOW.finditer(text):
                ids = {name.strip().upper() for name in match["ids"].split(",")}
                if rule in ids:
                    if match["reason"].strip():
                        return Excuse.GIVEN
                    found = Excuse.WITHOUT_REASON
        return found

    def _comments(self, site: CallSite) -> Iterator[str]:
        lines = self._text(site.path)
        if not 0 < site.line <= len(lines):
            return
        first = last = site.line
        code = self.line(site)
        if code is not None and not hasattr(code.statement, "body"):
            first = code.statement.lineno
            last = code.statement.end_lineno or first
        yield from lines[first - 1 : last]
        above = first - 2
        # A comment at the end of the line above belongs to that line.
        while above >= 0 and lines[above].lstrip().startswith("#"):
            yield lines[above]
            above -= 1

    def _module(self, path: str) -> Module | None:
        if path not in self._modules:
            lines = self._text(path)
            try:
                self._modules[path] = Module.parse("\n".join(lines)) if lines else None
            except (SyntaxError, ValueError, RecursionError):
                self._modules[path] = None
        return self._modules[path]

    def _text(self, path: str) -> tuple[str, ...]:
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> tuple[str, ...]:
        if not path or path.startswith("<"):
            return ()
        for folder in (self._root, *(Path(entry) for entry in sys.path if entry)):
            try:
                with tokenize.open(str(folder / path)) as stream:
                    return tuple(stream.read().split("\n"))
            except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
                continue
        return ()
