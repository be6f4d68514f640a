"""The README in pieces: its blocks, what sort each is, and whether output is what it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.workflows import ROOT

README = (ROOT / "README.md").read_text()
QUICK_START = re.search(
    r"<!-- quick start: begin -->\n```\n(.*?)```\n<!-- quick start: end -->",
    README,
    flags=re.DOTALL,
)
PROGRAMS = {"make", "syncprobe", "python", "pytest", "pip", "pre-commit"}
SHELL = {"", "sh", "bash", "console", "text"}


@dataclass(frozen=True)
class Block:
    number: int
    line: int
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.split(" #")[0].strip() for line in lines if line.strip()]

    @property
    def sort(self) -> str:
        if self.language in SHELL:
            are_commands = all(command.split()[0] in PROGRAMS for command in self.commands)
            return "commands" if are_commands else "output"
        if self.language == "python":
            return "test file" if re.search(r"^def test_", self.text, re.MULTILINE) else "python"
        return self.language


def blocks_of(text: str) -> list[Block]:
    found = re.finditer(r"^```(\w*)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [
        Block(number, text[: match.start()].count("\n") + 1, *match.groups())
        for number, match in enumerate(found)
    ]


BLOCKS = blocks_of(README)


def without_times(text: str) -> list[str]:
    """Lines without what differs from machine to machine: times, and what is computed from them."""
    masked = re.sub(r"[\d.,]+(?= ?(?:ns|us|ms|s|%|x)\b|%)", "#", text)
    return [re.sub(r"[=_-]{4,}", "---", line).strip() for line in masked.splitlines()]


def assert_shown(shown: str, printed: str) -> None:
    """All lines shown were printed, in this order; ``...`` stands for lines left out."""
    rest = iter(without_times(printed))
    for line in without_times(shown):
        assert line in {"", "..."} or line in rest, f"{line!r} was not printed:\n{printed}"
