"""Text on standard output, heard on its way: its words, and its numbers as numbers."""

from __future__ import annotations

import hashlib
import math
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from syncprobe.profiles.fingerprints.model import Printed

if TYPE_CHECKING:
    from collections.abc import Iterator

NUMBER: Final = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\w)")
MOST_NUMBERS: Final = 256
DIGEST_BYTES: Final = 8


class PrintedText:
    """Sums up text line by line, so that it need not be kept."""

    def __init__(self) -> None:
        self._words = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._whole = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._numbers: list[float | None] = []
        self._lines = 0
        self._rest = ""

    def add(self, text: str) -> None:
        """More text."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._end_line(line)

    def summary(self) -> Printed:
        """What was printed; an unfinished last line counts as a line."""
        if self._rest:
            self._end_line(self._rest)
            self._rest = ""
        if not self._lines:
            return Printed()
        return Printed(
            lines=self._lines,
            words=self._words.hexdigest(),
            digest=self._whole.hexdigest(),
            numbers=tuple(self._numbers),
        )

    def _end_line(self, line: str) -> None:
        self._lines += 1
        self._whole.update(f"{line}\n".encode(errors="replace"))
        self._words.update(f"{NUMBER.sub('#', line)}\n".encode(errors="replace"))
        if len(self._numbers) < MOST_NUMBERS:
            found = (float(number) for number in NUMBER.findall(line))
            self._numbers += [value if math.isfinite(value) else None for value in found]
            del self._numbers[MOST_NUMBERS:]


@contextmanager
def printing_heard(printed: PrintedText) -> Iterator[None]:
    """Hear what goes to the standard output of now; the stream stays the object that it is."""
    stream: Any = sys.stdout
    original: Any = getattr(stream, "write", None)
    is_shadowed = "write" in getattr(stream, "__dict__", {})

    def write(text: Any) -> Any:
        if isinstance(text, str):
            printed.add(text)
        return original(text)

    try:
        stream.write = write
    except AttributeError:  # no stream at all, or one of C that takes no attributes
        yield
        return
    try:
        yield
    finally:
        if is_shadowed:
            stream.write = original
        else:
            del stream.write
