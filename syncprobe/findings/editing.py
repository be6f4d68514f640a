"""Changes parts of a statement's text and leaves the rest as its author wrote it."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from syncprobe.findings.syntax import CodeLine


_COMMENT: Final = re.compile(r"\s+#[^\"'\n]*$")


class Draft:
    """The text of a line's statement, without the blocks that belong to it, and what to change in it.

    Args:
        line: Whose statement it is.
        written: All lines of the file.
    """

    def __init__(self, line: CodeLine, written: Sequence[str]) -> None:
        statement = line.statement
        body: list[ast.stmt] = getattr(statement, "body", [])
        last = statement.end_lineno or statement.lineno
        if body and body[0].lineno > statement.lineno:
            last = body[0].lineno - 1
        # Columns count bytes.
        self._lines = [text.encode() for text in written[statement.lineno - 1 : last]]
        if last == statement.end_lineno:
            # What follows is a comment, or another statement.
            self._lines[-1] = self._lines[-1][: statement.end_col_offset]
        self.is_whole = not body
        """Nothing is left out: the statement has no blocks."""
        self._first = statement.lineno
        self._edits: list[tuple[ast.expr, str]] = []

    @property
    def before(self) -> str:
        """The statement as it is."""
        return _tidy(self._lines)

    @property
    def after(self) -> str:
        """The statement with its parts replaced."""
        lines = list(self._lines)
        # From the end, so that what comes before keeps its place.
        for node, text in sorted(self._edits, key=lambda edit: _start(edit[0]), reverse=True):
            first, last = node.lineno - self._first, (node.end_lineno or 0) - self._first
            head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            lines[first : last + 1] = [head + text.encode() + tail]
        return _tidy(lines)

    def text(self, node: ast.expr) -> str:
        """A part as it is written, on one line."""
        first, last = node.lineno - self._first, (node.end_lineno or 0) - self._first
        if first == last:
            return self._lines[first][node.col_offset : node.end_col_offset].decode()
        parts = [self._lines[first][node.col_offset :], *self._lines[first + 1 : last]]
        parts.append(self._lines[last][: node.end_col_offset])
        return " ".join(part.decode().strip() for part in parts)

    def replace(self, node: ast.expr, text: str) -> None:
        """Write something else in place of a part; parts may not overlap."""
        self._edits.append((node, text))

    def holds(self, node: ast.expr) -> bool:
        """The part is on the lines that are shown."""
        return self._first <= node.lineno and (node.end_lineno or 0) < self._first + len(
            self._lines
        )


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _tidy(lines: Sequence[bytes]) -> str:
    text = _COMMENT.sub("", b"\n".join(lines).decode())
    return textwrap.dedent(text).strip()
