"""Programs run in this process, with the same evidence as in one of their own."""

from __future__ import annotations

import contextlib
import hashlib
import io
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from syncprobe.fixing import guards
from syncprobe.fixing.generators import draws, seed_generators
from syncprobe.fixing.likeness import Yardstick, yardstick
from syncprobe.fixing.remedies import REMEDIES
from syncprobe.fixing.searching import Search
from syncprobe.fixing.source import SourceFile
from syncprobe.fixing.trial import Trial
from syncprobe.targets import running
from syncprobe.targets.legacy_code import validated_distributions

NAME = "train.py"
HEAD = """
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda")
model = nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def update():
    loss = (model(torch.ones(8, 4, device=device)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


"""
"""How the programs of these tests begin: a small network, and an update of it."""


@dataclass(frozen=True)
class Workshop:
    """Runs and searches one-file programs in a folder of a test."""

    folder: Path

    def run(self, texts: Mapping[str, str]) -> Trial:
        (self.folder / NAME).write_text(texts[NAME])
        printed = io.StringIO()
        seed_generators()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            guards.installed(),
            validated_distributions(),  # torchrl switches that off for a whole process
        ):
            profile = running.run(
                NAME, running.RunOptions(device="sim", is_timed=False, is_thorough=True)
            )
            after = draws()
        written = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.folder.iterdir()
            if path.is_file() and path.name != NAME
        }
        return Trial(
            profile=profile,
            draws=after,
            output=printed.getvalue(),
            files=written,
        )

    def yardstick(self, text: str) -> Yardstick:
        """As of two runs that did the same: a test of its own shows that they do."""
        original = self.run({NAME: text})
        assert original.failure is None
        return yardstick(original, original, NAME)

    def search(self, text: str, *rules: str) -> Search:
        """The search after it has come to its end."""
        measure = self.yardstick(text)
        search = Search(
            run=self.run,
            yardstick=measure,
            texts={NAME: text},
            evidence=measure.original,
            paths=lambda path: path if path == NAME else None,
            rules=frozenset(rules),
        )
        search.exhaust()
        return search


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def proposals() -> Callable[..., list[str]]:
    """What a remedy makes of a text, at the line that has ``# <-`` on it; checks stay in."""

    def propose(name: str, text: str) -> list[str]:
        text = textwrap.dedent(text).lstrip("\n")
        lines = text.split("\n")
        line = next(number for number, each in enumerate(lines, 1) if "# <-" in each)
        return [draft.text for draft in REMEDIES[name].propose(SourceFile(text), line)]

    return propose
