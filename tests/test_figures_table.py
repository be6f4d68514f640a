"""A table of figures does not leave it to the reader to see what was missed."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.misses import marked
from tests.workflows import ROOT


@pytest.mark.parametrize(
    ("found", "meant", "shown"),
    [
        ("6.34x", "8x", "8x, MISSED"),
        ("8.00x", "8x", "8x"),
        ("1.36x", "at most 1.25x", "at most 1.25x, MISSED"),
        ("1.20x", "at most 1.25x", "at most 1.25x"),
        ("26.0 us", "25 us", "25 us, MISSED"),
        ("0.31 s", "under 0.3 s", "under 0.3 s, MISSED"),
        ("25.2 steps/s", "", ""),
    ],
)
def test_what_is_missed_is_marked(found: str, meant: str, shown: str) -> None:
    assert marked(found, meant) == shown


def test_the_committed_table_marks_what_it_misses() -> None:
    rows = re.findall(
        r"^\| .* \| (.*) \| .* \| (.*) \|$", (ROOT / "reports/figures.md").read_text(), re.MULTILINE
    )
    assert len(rows) > 20
    for found, meant in rows[2:]:
        plain = meant.removesuffix(", MISSED")
        assert marked(found, plain) == meant, f"{found} for {plain}"
