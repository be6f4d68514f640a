"""README and documentation in pieces: blocks, what sort each is, and whether output is what it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.workflows import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = {"make", "syncprobe", "python", "pytest", "pip", "pre-commit"}
SHELL = {"", "sh", "bash", "console", "text"}


@dataclass(frozen=True)
class Block:
    page: Path
    number: int
    line: int
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.split(" #")[0].strip() for line in lines if line.strip()]

    @property
    def file(self) -> str | None:
        """The name of the file that the block is, by its first line."""
        named = re.match(r"# (\w+\.py)\n", self.text)
        return named[1] if named else None

    @property
    def sort(self) -> str:
        if self.language in SHELL:
            are_commands = all(command.split()[0] in PROGRAMS for command in self.commands)
            return "commands" if are_commands else "output"
        if self.language == "python":
            if re.search(r"^def test_", self.text, re.MULTILINE):
                return "test file"
            return "program" if self.file else "python"
        return self.language


def blocks_of(text: str, page: Path = ROOT) -> list[Block]:
    found = re.finditer(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [
        Block(page, number, text[: match.start()].count("\n") + 1, *match.groups())
        for number, match in enumerate(found)
    ]


BLOCKS = {page: blocks_of(page.read_text(), page) for page in PAGES}


def without_times(text: str) -> str:
    """The words without what differs from machine to machine: times, what is computed from them, and breaks."""
    masked = re.sub(r"[\d.,]+(?= *(?:ns|us|ms|s|%|x)\b|%)", "#", text)
    masked = re.sub(r"^ +[\d.,]+(?= +<?#%)", " #", masked, flags=re.MULTILINE)
    return " ".join(re.sub(r"[=_-]{4,}", "---", masked).split())


def assert_shown(shown: str, printed: str) -> None:
    """All that is shown was printed, in this order; ``...`` stands for what is left out."""
    rest = without_times(printed)
    for part in re.split(r"^\s*\.\.\.$", shown, flags=re.MULTILINE):
        words = without_times(part)
        assert words in rest, f"{words!r} was not printed:\n{printed}"
        rest = rest[rest.index(words) + len(words) :]
