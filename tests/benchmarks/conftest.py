"""Shows what the benchmarks found beside what it is meant to be, at the end of the run or in a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from syncprobe import __version__
from syncprobe.comparison.ratio import Ratio
from tests.benchmarks.misses import marked


class Row(NamedTuple):
    what: str
    found: str
    interval: str
    meant: str


Note = Callable[..., None]
ROWS = pytest.StashKey[list[Row]]()
TITLES = Row("what", "found", "95 % interval", "figure")
LIMITS = Path(__file__).parents[2] / "docs" / "limits.md"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--figures", metavar="FILE", help="write what was found there, as Markdown")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROWS] = []


@pytest.fixture
def note(pytestconfig: pytest.Config) -> Note:
    """Note a figure: a number with its unit, or a ratio with its interval."""

    def noted(what: str, found: str | Ratio, meant: str = "") -> None:
        interval = ""
        if isinstance(found, Ratio):
            interval = f"{found.low:.2f}x to {found.high:.2f}x"
            found = f"{found.median:.2f}x"
        pytestconfig.stash[ROWS].append(Row(what, found, interval, marked(found, meant)))

    return noted


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = config.stash[ROWS]
    if not rows:
        return
    terminalreporter.section("figures")
    widths = [max(map(len, column)) for column in zip(TITLES, *rows, strict=True)]
    for row in (TITLES, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        terminalreporter.write_line("  ".join(cells).rstrip())
    path = config.getoption("--figures", None)
    if path is not None:
        Path(path).write_text(markdown(rows))


def markdown(rows: list[Row]) -> str:
    lines = [
        "# Figures",
        "",
        f"Made by `make reports` with syncprobe {__version__}, torch {torch.__version__} and one thread: 5 robots, 4 cores,",
        "4 obstacles and seed 0 unless said otherwise, learning included. Everything here is measured, on the CPU;",
        "ratios come from variants that took turns in one process. How little a step could take follows, agent by agent and",
        "region by region: what is far above its floor could still get quicker.",
        "",
        *(f"| {' | '.join(cells)} |" for cells in (TITLES, ["---"] * len(TITLES), *rows)),
        *floors(),
    ]
    return "\n".join(lines) + "\n"


def floors() -> list[str]:
    """The tables of docs/limits.md, which says how they were measured."""
    tables = re.findall(r"(?:^\|.*\n)+", LIMITS.read_text(), re.MULTILINE)
    return [
        "",
        "## Floors",
        "",
        "Milliseconds of processor time per step, measured by `python -m tests.benchmarks.floors` in another run than the ratios above;",
        "[docs/limits.md](../docs/limits.md) says how, and what is left above them.",
        *(line for table in tables for line in ("", *table.splitlines())),
    ]
