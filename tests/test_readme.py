"""What the README says is true: its Python runs, its commands work, its output is what comes out."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
QUICK_START = re.search(
    r"<!-- quick start: begin -->\n```\n(.*?)```\n<!-- quick start: end -->",
    README,
    flags=re.DOTALL,
)


def shape(text: str) -> list[str]:
    """Lines without what differs from machine to machine: times, and what is computed from them."""
    return [re.sub(r"[\d.,]+", "#", line).split("#")[0].strip() for line in text.splitlines()]


@pytest.mark.parametrize("source", [text for language, text in BLOCKS if language == "python"])
def test_python_blocks_run(source: str, tmp_path: Path) -> None:
    runnable = source.replace("for batch in loader:", "for batch in range(2):")
    done = subprocess.run(
        [sys.executable, "-c", runnable], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_quick_start_prints_what_the_readme_shows(tmp_path: Path) -> None:
    assert QUICK_START is not None
    command = [sys.executable, "-m", "syncprobe", *shlex.split("profile train --steps 10")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    shown = QUICK_START.group(1)
    first_screen = done.stdout[: done.stdout.index("\nEvents")]
    questions = [line for line in shown.splitlines() if re.match(r"[123]\. ", line)]
    assert len(questions) == 3
    assert [line[:20] for line in first_screen.splitlines() if re.match(r"[123]\. ", line)] == [
        line[:20] for line in questions
    ]
    # Counts do not depend on the machine; times do.
    counts = re.search(r"Per step: .*", shown)
    assert counts is not None
    assert counts.group() in first_screen
    assert shape(shown)[0] == shape(first_screen)[0]


def test_the_first_screen_fits(tmp_path: Path) -> None:
    assert QUICK_START is not None
    lines = QUICK_START.group(1).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_links_lead_somewhere(name: str) -> None:
    assert (ROOT / name).exists()
