"""The only reader of source files: the line behind a call site, and the comments that excuse it."""

from __future__ import annotations

import enum
import io
import re
import stat
import sys
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.findings.syntax import Module

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.events import CallSite
    from syncprobe.findings.syntax import CodeLine

_ALLOW: Final = re.compile(r"#\s*syncprobe:\s*allow\b(?:\s*\[(?P<ids>[^\]]*)\])?(?P<reason>[^#]*)")

LARGEST_SOURCE: Final = 16 * 2**20
"""Bytes of a file that is still read as source."""


class Excuse(enum.Enum):
    """What the comments at a line say about a rule."""

    NONE = enum.auto()
    """Nothing."""
    WITHOUT_REASON = enum.auto()
    """They allow it but do not say why, which excuses nothing."""
    GIVEN = enum.auto()
    """They allow it and say why."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """A comment that excuses a line: ``# syncprobe: allow[SP101] reason``."""

    line: int
    rules: tuple[str, ...]
    """As written, in capitals; none if it names none."""
    reason: str


class SourceLines:
    """Cached access to the text of call sites.

    Files that are missing, unreadable or not Python are no error: there is just nothing to say about their lines.

    Args:
        root: The folder that the paths of call sites are relative to; import roots are tried after it.
        is_trusted: The paths are those of a program that was run here. Other profiles and traces may come from anybody,
            and reports are made to be passed on: then only Python files below the root are opened.
    """

    def __init__(self, root: Path, *, is_trusted: bool = True) -> None:
        self._root = root
        self._is_trusted = is_trusted
        self._texts: dict[str, tuple[str, ...]] = {}
        self._modules: dict[str, Module | None] = {}
        self._lines: dict[tuple[str, int], CodeLine | None] = {}
        self._allowances: dict[str, tuple[Allowance, ...]] = {}

    def text(self, site: CallSite) -> str:
        """The line as written, without its indentation; empty if it cannot be read."""
        return self.written(site).strip()

    def written(self, site: CallSite) -> str:
        """The line as written; empty if it cannot be read."""
        lines = self._text(site.path)
        return lines[site.line - 1] if 0 < site.line <= len(lines) else ""

    def lines(self, path: str) -> tuple[str, ...]:
        """A file as written, line by line; none if it cannot be read."""
        return self._text(path)

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
        for allowance in self.allowances_at(site):
            if rule in allowance.rules:
                if allowance.reason:
                    return Excuse.GIVEN
                found = Excuse.WITHOUT_REASON
        return found

    def allowances_at(self, site: CallSite) -> Iterator[Allowance]:
        """The allow comments that cover a line."""
        lines = self._text(site.path)
        if not 0 < site.line <= len(lines):
            return
        first = last = site.line
        code = self.line(site)
        if code is not None and not hasattr(code.statement, "body"):
            first = code.statement.lineno
            last = code.statement.end_lineno or first
        above = first - 1
        # A comment at the end of the line above belongs to that line.
        while above > 0 and lines[above - 1].lstrip().startswith("#"):
            above -= 1
        allowances = self.allowances(site.path)
        start = bisect_right(allowances, above, key=_line_of)
        yield from takewhile(lambda each: each.line <= last, islice(allowances, start, None))

    def allowances(self, path: str) -> tuple[Allowance, ...]:
        """The allow comments of a file, in order."""
        if path not in self._allowances:
            self._allowances[path] = tuple(_read_allowances(self._text(path)))
        return self._allowances[path]

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
        for folder in (self._root, *self._import_roots()):
            try:
                if not self._may_open(folder / path):
                    continue
                with tokenize.open(str(folder / path)) as stream:
                    return tuple(stream.read().split("\n"))
            except (OSError, SyntaxError, UnicodeDecodeError, ValueError, RuntimeError):
                continue
        return ()

    def _import_roots(self) -> list[Path]:
        return [Path(entry) for entry in sys.path if entry] if self._is_trusted else []

    def _may_open(self, path: Path) -> bool:
        if not self._is_trusted:
            path = path.resolve()
            if path.suffix != ".py" or not path.is_relative_to(self._root.resolve()):
                return False
        return _is_source(path)


def _is_source(path: Path) -> bool:
    """Whether a path, which a trace or a profile may have named, is a file that could be source."""
    found = path.stat()
    # Devices and pipes never end; nobody writes a program of this size by hand.
    return stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_SOURCE


def _line_of(allowance: Allowance) -> int:
    return allowance.line


def _read_allowances(lines: Sequence[str]) -> Iterator[Allowance]:
    for number, comment in _comments(lines):
        for match in _ALLOW.finditer(comment):
            names = (name.strip().upper() for name in (match["ids"] or "").split(","))
            yield Allowance(number, tuple(filter(None, names)), match["reason"].strip())


def _comments(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The comments of a file with their lines; what only looks like one, inside a string, is none."""
    if not any("syncprobe:" in line for line in lines):
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        # The rest of the file is not Python.
        return
